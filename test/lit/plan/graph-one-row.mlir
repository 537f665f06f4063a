// Dimensions of one element are left out of a dot where they are batches: this operand begins with its one row, and keeps it.
// RUN: %peak --graph %s | FileCheck %s
// CHECK: %[[X:[0-9]+]] = f32[1,3,8] parameter#0
// CHECK: f32[3,1,5] dot_general %[[X]],
func.func public @main(%x: tensor<1x3x8xf32>, %b: tensor<3x8x5xf32>) -> tensor<3x1x5xf32> {
  %1 = stablehlo.dot_general %x, %b, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<1x3x8xf32>, tensor<3x8x5xf32>) -> tensor<3x1x5xf32>
  return %1 : tensor<3x1x5xf32>
}
