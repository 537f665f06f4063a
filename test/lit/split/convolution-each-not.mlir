// Not from the last group to the first.
// RUN: %weir opt %s --tensor-size-threshold 200 --tensor-split-size 150 --stop-after split | FileCheck %s

// CHECK: "stablehlo.convolution"(%{{.*}}, %{{.*}}) <{{{.*}}feature_group_count = 8 : i64
func.func public @main(%x: tensor<8xf32>, %k: tensor<24xf32>) -> tensor<24xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<8xf32>) -> tensor<1x8x6xf32>
  %e = stablehlo.exponential %xs : tensor<1x8x6xf32>
  %ks = stablehlo.broadcast_in_dim %k, dims = [0] : (tensor<24xf32>) -> tensor<24x1x3xf32>
  %g = stablehlo.exponential %ks : tensor<24x1x3xf32>
  %c = stablehlo.convolution(%e, %g) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<1x8x6xf32>, tensor<24x1x3xf32>) -> tensor<1x24x6xf32>
  %h = stablehlo.reverse %c, dims = [1] : tensor<1x24x6xf32>
  %p = stablehlo.add %c, %h : tensor<1x24x6xf32>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x24x6xf32>, tensor<f32>) -> tensor<24xf32>
  return %s : tensor<24xf32>
}
