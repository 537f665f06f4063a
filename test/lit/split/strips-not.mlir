// What is left whole: a kernel as long as the signal that runs backwards over it (simplify turns such
// kernels round), and windows that select and reach beyond the ends.
// RUN: %weir opt %s --tensor-size-threshold 4000 --tensor-split-size 600 --skip simplify --stop-after split | FileCheck %s

// CHECK-NOT: weir.loop
func.func public @main(%x: tensor<1x2048x1xf32>, %y: tensor<1x2048x1xf32>) -> (tensor<1x1x1xf32>, tensor<1x2048x1xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<1x2048x1xf32>
  %k = stablehlo.reshape %y : (tensor<1x2048x1xf32>) -> tensor<2048x1x1xf32>
  %s = stablehlo.convolution(%e, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2048x1xf32>, tensor<2048x1x1xf32>) -> tensor<1x1x1xf32>
  %g = "stablehlo.select_and_scatter"(%e, %y, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3, 1>, padding = dense<[[0, 0], [1, 1], [0, 0]]> : tensor<3x2xi64>} : (tensor<1x2048x1xf32>, tensor<1x2048x1xf32>, tensor<f32>) -> tensor<1x2048x1xf32>
  return %s, %g : tensor<1x1x1xf32>, tensor<1x2048x1xf32>
}
