// Softmax attention is one pass over the columns: the maximum, the sum and the product with V run together, and the division by the
// sum comes after the product.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s

// CHECK: kernel: outer 2 row 96 column 100 inner 16 point 24; 1 passes, 3 + 0 reductions;

module @attention {
  func.func public @main(%q: tensor<2x96x16xf32>, %k: tensor<2x100x16xf32>, %v: tensor<2x100x24xf32>) -> (tensor<2x96x24xf32>, tensor<2x96xf32>) {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x96x16xf32>, tensor<2x100x16xf32>) -> tensor<2x96x100xf32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<2x96x100xf32>, tensor<f32>) -> tensor<2x96xf32>
    %top = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<2x96xf32>) -> tensor<2x96x100xf32>
    %x = stablehlo.subtract %s, %top : tensor<2x96x100xf32>
    %e = stablehlo.exponential %x : tensor<2x96x100xf32>
    %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x96x100xf32>, tensor<f32>) -> tensor<2x96xf32>
    %sum = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<2x96xf32>) -> tensor<2x96x100xf32>
    %p = stablehlo.divide %e, %sum : tensor<2x96x100xf32>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x96x100xf32>, tensor<2x100x24xf32>) -> tensor<2x96x24xf32>
    return %o, %l : tensor<2x96x24xf32>, tensor<2x96xf32>
  }
}
