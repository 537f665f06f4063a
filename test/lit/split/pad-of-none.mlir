// What pads a tensor without elements stays whole, for there is nothing to slice; its readers are made in slices.
// RUN: %weir opt %s --tensor-size-threshold 2000 --tensor-split-size 2000 --stop-after split | FileCheck %s

// CHECK: "stablehlo.pad"(%arg0, %arg1)
// CHECK: "weir.loop"
// CHECK: "weir.yield"
func.func public @main(%x: tensor<0x40xf32>, %v: tensor<f32>) -> tensor<100xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %x, %v, low = [100, 0], high = [0, 0], interior = [0, 0] : (tensor<0x40xf32>, tensor<f32>) -> tensor<100x40xf32>
  %i = stablehlo.iota dim = 1 : tensor<100x40xf32>
  %e = stablehlo.multiply %p, %i : tensor<100x40xf32>
  %n = stablehlo.exponential %e : tensor<100x40xf32>
  %s = stablehlo.reduce(%n init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x40xf32>, tensor<f32>) -> tensor<100xf32>
  return %s : tensor<100xf32>
}
