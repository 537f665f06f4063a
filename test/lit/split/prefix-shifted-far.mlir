// A prefix sum that is read at two places, more than four slices apart: each has a carry of its own.
// The loop begins in front of both, and elements in front of the first count as zero.
// RUN: %weir opt %s --tensor-size-threshold 60 --tensor-split-size 20 --stop-after split | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: "weir.loop"
// CHECK: "stablehlo.reduce_window"
// CHECK: "stablehlo.dynamic_slice"{{.*}} -> tensor<1xf32>
// CHECK: "stablehlo.select"
// CHECK: "stablehlo.reduce_window"
// CHECK: "stablehlo.dynamic_slice"{{.*}} -> tensor<1xf32>
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
  %l = "stablehlo.slice"(%p) <{start_indices = array<i64: 30>, limit_indices = array<i64: 64>, strides = array<i64: 1>}> : (tensor<64xf32>) -> tensor<34xf32>
  %r = "stablehlo.slice"(%p) <{start_indices = array<i64: 0>, limit_indices = array<i64: 34>, strides = array<i64: 1>}> : (tensor<64xf32>) -> tensor<34xf32>
  %d = stablehlo.subtract %l, %r : tensor<34xf32>
  %t = stablehlo.tanh %d : tensor<34xf32>
  %s = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<34xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
