// What is computed of one broadcast value, elementwise, is computed before it is broadcast: once a row here, not once an element.
// RUN: %peak --graph %s | FileCheck %s
// CHECK: %[[X:[0-9]+]] = f32[8] parameter#0
// CHECK: f32[8] exponential %[[X]]
func.func public @main(%x: tensor<8xf32>, %w: tensor<6x5xf32>) -> (tensor<8x5xf32>, tensor<8x6xf32>) {
  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %e = stablehlo.exponential %b : tensor<8x6xf32>
  %c = stablehlo.multiply %b, %e : tensor<8x6xf32>
  %s = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x5xf32>) -> tensor<8x5xf32>
  return %s, %c : tensor<8x5xf32>, tensor<8x6xf32>
}
