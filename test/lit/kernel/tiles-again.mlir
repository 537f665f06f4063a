// What has rows, no columns, and an index inside of the tile is made again for each tile, unless it
// is small enough to be copied once. With 8 rows, 1500 x 16 such values stand beside each 48 columns.
// RUN: %weir opt %s --memory-limit 2MB --tile auto --machine x86-64-v3 --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK: weir: kernel: inner 8 inner 16 {{row|column}} 1500 inner 16 {{row|column}} 1500;
func.func @main(%x: tensor<1500x16xf32>, %w: tensor<8x16x16xf32>, %y: tensor<1500x16xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xw = stablehlo.dot_general %w, %x, contracting_dims = [1] x [1] : (tensor<8x16x16xf32>, tensor<1500x16xf32>) -> tensor<8x16x1500xf32>
  %xwy = stablehlo.dot_general %xw, %y, contracting_dims = [1] x [1] : (tensor<8x16x1500xf32>, tensor<1500x16xf32>) -> tensor<8x1500x1500xf32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x1500x1500xf32>
  %relu = stablehlo.maximum %xwy, %zeros : tensor<8x1500x1500xf32>
  %squares = stablehlo.multiply %relu, %relu : tensor<8x1500x1500xf32>
  %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x1500x1500xf32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}
