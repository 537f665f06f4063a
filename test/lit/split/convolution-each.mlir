// Along the groups of a convolution: a feature of the operand each, three of the kernel and of the
// result. Two a trip.
// RUN: %weir opt %s --tensor-size-threshold 200 --tensor-split-size 150 --stop-after split | FileCheck %s

// CHECK: "weir.loop"
// CHECK: "stablehlo.convolution"(%{{.*}}, %{{.*}}) <{{{.*}}feature_group_count = 2 : i64{{.*}}}> : (tensor<1x2x6xf32>, tensor<6x1x3xf32>) -> tensor<1x6x6xf32>
// CHECK: out_dims = array<i64: 0>, out_units = array<i64: 3>
func.func public @main(%x: tensor<8xf32>, %k: tensor<24xf32>) -> tensor<24xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<8xf32>) -> tensor<1x8x6xf32>
  %e = stablehlo.exponential %xs : tensor<1x8x6xf32>
  %ks = stablehlo.broadcast_in_dim %k, dims = [0] : (tensor<24xf32>) -> tensor<24x1x3xf32>
  %g = stablehlo.exponential %ks : tensor<24x1x3xf32>
  %c = stablehlo.convolution(%e, %g) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<1x8x6xf32>, tensor<24x1x3xf32>) -> tensor<1x24x6xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x24x6xf32>, tensor<f32>) -> tensor<24xf32>
  return %s : tensor<24xf32>
}
