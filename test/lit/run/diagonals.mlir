// Sums of a product of which only a diagonal counts, that begins behind the first column, beside a
// dimension of its own.
// RUN: %python %S/same.py %weir %eval %s 0 --pass=diagonal,dce
// RUN: %weir opt %s --pass=diagonal,dce | FileCheck %s
// CHECK-NOT: tensor<5x7x2x
// CHECK: "stablehlo.pad"
module {
  func.func public @main(%a: tensor<5x3xf32>, %b: tensor<7x2x3xf32>) -> (tensor<7x2xf32>, tensor<5x2xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<5x7x2xf32>
    %two = stablehlo.constant dense<2> : tensor<5x7xi32>
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [2] : (tensor<5x3xf32>, tensor<7x2x3xf32>) -> tensor<5x7x2xf32>
    %i = stablehlo.iota dim = 0 : tensor<5x7xi32>
    %j = stablehlo.iota dim = 1 : tensor<5x7xi32>
    %k = stablehlo.add %i, %two : tensor<5x7xi32>
    %on = stablehlo.compare EQ, %k, %j, SIGNED : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi1>
    %mask = stablehlo.broadcast_in_dim %on, dims = [0, 1] : (tensor<5x7xi1>) -> tensor<5x7x2xi1>
    %d = stablehlo.select %mask, %p, %zeros : tensor<5x7x2xi1>, tensor<5x7x2xf32>
    %r = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5x7x2xf32>, tensor<f32>) -> tensor<7x2xf32>
    %s = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x7x2xf32>, tensor<f32>) -> tensor<5x2xf32>
    return %r, %s : tensor<7x2xf32>, tensor<5x2xf32>
  }
}
