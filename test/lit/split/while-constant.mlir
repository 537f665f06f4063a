// A splat inside of a while is as long as the slices of what it meets there.
// RUN: %weir opt %s --tensor-size-threshold 1000 | FileCheck %s

// CHECK-NOT: 4x17x7xf64>}>
// CHECK: dense<5.000000e-01> : tensor<4x{{[0-9]+}}x7xf64>}>
// CHECK-NOT: 4x17x7xf64>}>
func.func public @main(%a: tensor<4x17x7xf64>) -> tensor<4x17xf64> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %init = stablehlo.constant dense<0.0> : tensor<f64>
  %n, %v = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<4x17x7xf64>
    cond {
      %limit = stablehlo.constant dense<5> : tensor<i32>
      %go = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %by = stablehlo.constant dense<0.5> : tensor<4x17x7xf64>
      %y = stablehlo.multiply %x, %by : tensor<4x17x7xf64>
      stablehlo.return %next, %y : tensor<i32>, tensor<4x17x7xf64>
    }
  %r = stablehlo.reduce(%v init: %init) applies stablehlo.add across dimensions = [2] : (tensor<4x17x7xf64>, tensor<f64>) -> tensor<4x17xf64>
  return %r : tensor<4x17xf64>
}
