// One splat is read along the contracted dimension of a product and along its result's columns (cse has made them
// one): the two are one axis then, over which the product would not sum. Not covered, rather than wrong.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 172 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s

// CHECK: no kernel: a reduction over an axis that stays
// CHECK-NOT: weir_tile
// CHECK: stablehlo.while
func.func @main(%x: tensor<2x2xf32>) -> tensor<32x2xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  %two = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<32x2xf32>
  %p = stablehlo.dot_general %two, %x, contracting_dims = [1] x [0] : (tensor<32x2xf32>, tensor<2x2xf32>) -> tensor<32x2xf32>
  %e = stablehlo.exponential %p : tensor<32x2xf32>
  %s = stablehlo.add %two, %e : tensor<32x2xf32>
  return %s : tensor<32x2xf32>
}
