// A roll: the row that comes to stand before the first is made before the loop, and read in it. What is left
// are two windows of %e beside each other, made as one.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      %[[LAST:[a-z0-9]+]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 40>, start_indices = array<i64: 39>
// CHECK-NEXT: %[[EDGE:[a-z0-9]+]] = "stablehlo.exponential"(%[[LAST]]) : (tensor<1xf32>) -> tensor<1xf32>
// CHECK:      "weir.loop"(%arg0, %[[EDGE]],
// CHECK:      "stablehlo.exponential"(%{{[a-z0-9]+}}) : (tensor<11xf32>) -> tensor<11xf32>
// CHECK-NOT:  "stablehlo.exponential"
func.func public @main(%x: tensor<40xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<40xf32>
  %last = stablehlo.slice %e [39:40] : (tensor<40xf32>) -> tensor<1xf32>
  %rest = stablehlo.slice %e [0:39] : (tensor<40xf32>) -> tensor<39xf32>
  %r = stablehlo.concatenate %last, %rest, dim = 0 : (tensor<1xf32>, tensor<39xf32>) -> tensor<40xf32>
  %d = stablehlo.subtract %e, %r : tensor<40xf32>
  %s = stablehlo.reduce(%d init: %none) applies stablehlo.maximum across dimensions = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
