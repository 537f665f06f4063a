// An update of most of the dimension, at a known place: its window, and the operand's beyond it.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: "weir.loop"(
// CHECK: %[[U:.*]] = "stablehlo.exponential"(%{{.*}}) : (tensor<11xf32>)
// CHECK: %[[IS:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} -> tensor<11xi1>
// CHECK: "stablehlo.select"(%[[IS]], %[[U]], %{{.*}}) : (tensor<11xi1>, tensor<11xf32>, tensor<11xf32>)
// CHECK-NOT: dynamic_update_slice
func.func public @main(%x: tensor<63xf32>, %y: tensor<64xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %e = stablehlo.exponential %x : tensor<63xf32>
  %n = stablehlo.sine %y : tensor<64xf32>
  %u = stablehlo.dynamic_update_slice %n, %e, %one : (tensor<64xf32>, tensor<63xf32>, tensor<i32>) -> tensor<64xf32>
  %s = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
