// A depthwise kernel's gradient: its groups are those of the batch, and the features, the examples,
// are summed over.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: "weir.loop"
// CHECK: %[[C:.*]] = "stablehlo.convolution"(%{{.*}}, %{{.*}}) <{batch_group_count = 2 : i64, {{.*}} : (tensor<1x6x2xf32>, tensor<1x6x2xf32>) -> tensor<3x1x2xf32>
// CHECK: "stablehlo.add"(%{{.*}}, %[[C]])
// CHECK: out_dims = array<i64: -1>
func.func public @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<3x1x2xf32> {
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6x2xf32>
  %e = stablehlo.exponential %xs : tensor<8x6x2xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<8xf32>) -> tensor<8x6x2xf32>
  %g = stablehlo.exponential %ys : tensor<8x6x2xf32>
  %c = stablehlo.convolution(%e, %g) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<8x6x2xf32>, tensor<8x6x2xf32>) -> tensor<3x1x2xf32>
  return %c : tensor<3x1x2xf32>
}
