// A trip's strip of the signal is three times as long as that of the pooled one.
// RUN: %weir opt %s --tensor-size-threshold 3000 --tensor-split-size 600 --stop-after split | FileCheck %s

// CHECK: "weir.loop"
// CHECK: %[[X:[a-z0-9]+]] = "stablehlo.exponential"({{.*}} -> tensor<1x150x1xf32>
// CHECK: "stablehlo.reduce_window"(%[[X]], {{.*}}window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 3, 1>
// CHECK: -> tensor<1x50x1xf32>
// CHECK: extent = 400 : i64{{.*}}in_units = array<i64: 3>{{.*}}out_units = array<i64: 1>
func.func public @main(%x: tensor<1x1200x1xf32>) -> tensor<1x400x1xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<1x1200x1xf32>
  %p = "stablehlo.reduce_window"(%e, %low) ({
  ^bb0(%i: tensor<f32>, %j: tensor<f32>):
    %m = stablehlo.maximum %i, %j : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3, 1>, window_strides = array<i64: 1, 3, 1>} : (tensor<1x1200x1xf32>, tensor<f32>) -> tensor<1x400x1xf32>
  return %p : tensor<1x400x1xf32>
}
