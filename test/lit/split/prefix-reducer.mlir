// A prefix sum whose reducer is several elementwise ops, with a constant, is made in slices; one with an op that is not
// elementwise stays whole.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s
// RUN: sed 's/"stablehlo.minimum"(%d, %most) : (tensor<f32>, tensor<f32>)/"stablehlo.custom_call"(%d) <{call_target_name = "f"}> : (tensor<f32>)/' %s | %weir opt - --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s --check-prefix=WHOLE

// CHECK: "weir.loop"
// CHECK: "stablehlo.reduce_window"{{.*}}window_dimensions = array<i64: 11>
// CHECK-NOT: window_dimensions = array<i64: 64>

// WHOLE: window_dimensions = array<i64: 64>
func.func public @main(%x: tensor<64xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<64xf32>
  %p = "stablehlo.reduce_window"(%e, %zero) <{padding = dense<[[63, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %most = stablehlo.constant dense<1000.0> : tensor<f32>
    %d = stablehlo.add %a, %b : tensor<f32>
    %c = "stablehlo.minimum"(%d, %most) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %t = stablehlo.tanh %p : tensor<64xf32>
  %s = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
