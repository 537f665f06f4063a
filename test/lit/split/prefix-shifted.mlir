// A prefix sum that is read at two places, three elements apart: one carry that reaches back so far.
// The loop begins in front of both, and elements in front of the first count as zero.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: "weir.loop"
// CHECK: %[[FAR:.*]] = "stablehlo.dynamic_slice"(%{{.*}}) <{slice_sizes = array<i64: 3>}>
// CHECK: "stablehlo.reduce_window"
// CHECK: %[[C:.*]] = "stablehlo.concatenate"(%[[FAR]], %{{.*}}){{.*}} -> tensor<14xf32>
// CHECK: "stablehlo.slice"(%[[C]]) <{limit_indices = array<i64: 11>, start_indices = array<i64: 0>
// CHECK: extent = 64 : i64
// CHECK-NOT: weir.loop
// CHECK: "func.return"
func.func public @main(%x: tensor<64xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<64xf32>
  %p = "stablehlo.reduce_window"(%e, %zero) <{padding = dense<[[63, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %l = "stablehlo.slice"(%p) <{start_indices = array<i64: 3>, limit_indices = array<i64: 64>, strides = array<i64: 1>}> : (tensor<64xf32>) -> tensor<61xf32>
  %r = "stablehlo.slice"(%p) <{start_indices = array<i64: 0>, limit_indices = array<i64: 61>, strides = array<i64: 1>}> : (tensor<64xf32>) -> tensor<61xf32>
  %d = stablehlo.subtract %l, %r : tensor<61xf32>
  %t = stablehlo.tanh %d : tensor<61xf32>
  %s = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<61xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
