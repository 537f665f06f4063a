// An update smaller than the operand along both dimensions, at a known place: its window over the
// operand's along the other dimension, then where there is one along that which is split.
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 700 --stop-after split | FileCheck %s

// CHECK: "weir.loop"(
// CHECK: %[[X:.*]] = "stablehlo.sine"(%{{.*}}) : (tensor<[[ROWS:[0-9]+]]x16xf32>)
// CHECK: %[[U:.*]] = "stablehlo.exponential"(%{{.*}}) : (tensor<[[ROWS]]x14xf32>)
// CHECK: %[[OVER:.*]] = "stablehlo.dynamic_update_slice"(%[[X]], %[[U]]
// CHECK: "stablehlo.select"(%{{.*}}, %[[OVER]], %[[X]]) : (tensor<[[ROWS]]x16xi1>
// CHECK-NOT: dynamic_update_slice
// CHECK: "func.return"
func.func public @main(%x: tensor<30x14xf32>, %y: tensor<32x16xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %e = stablehlo.exponential %x : tensor<30x14xf32>
  %n = stablehlo.sine %y : tensor<32x16xf32>
  %u = stablehlo.dynamic_update_slice %n, %e, %one, %one : (tensor<32x16xf32>, tensor<30x14xf32>, tensor<i32>, tensor<i32>) -> tensor<32x16xf32>
  %s = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
