// A sum that shifts exponentials is no bound of them, unlike a maximum: what a part of it gives can overflow, so it is known before the
// exponentials are summed, in a second pass.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK: kernel: outer 2 row 96 column 100 inner 16; 2 passes, 2 + 0 reductions;
func.func public @main(%q: tensor<2x96x16xf32>, %k: tensor<2x100x16xf32>) -> tensor<2x96xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x96x16xf32>, tensor<2x100x16xf32>) -> tensor<2x96x100xf32>
  %m = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x96x100xf32>, tensor<f32>) -> tensor<2x96xf32>
  %top = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x96xf32>) -> tensor<2x96x100xf32>
  %x = stablehlo.subtract %s, %top : tensor<2x96x100xf32>
  %e = stablehlo.exponential %x : tensor<2x96x100xf32>
  %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x96x100xf32>, tensor<f32>) -> tensor<2x96xf32>
  return %l : tensor<2x96xf32>
}
