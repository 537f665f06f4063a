// Squared distances become products where that is faster. A kernel adds up the squares of the differences in f32 as fast as products
// in f64, of which a register holds half as many.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 5MB --tile auto --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --memory-limit 5MB --tile off --machine x86-64-v4 | FileCheck %s --check-prefix=LOOP
// CHECK: weir_tile
// CHECK-NOT: xf64
// LOOP: dot_general
// LOOP-SAME: xf64
func.func @main(%x: tensor<5000x64xf32>, %v: tensor<5000xf32>) -> tensor<5000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5000x64xf32>) -> tensor<5000x5000x64xf32>
  %b = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<5000x64xf32>) -> tensor<5000x5000x64xf32>
  %d = stablehlo.subtract %a, %b : tensor<5000x5000x64xf32>
  %s = stablehlo.multiply %d, %d : tensor<5000x5000x64xf32>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<5000x5000x64xf32>, tensor<f32>) -> tensor<5000x5000xf32>
  %n = stablehlo.negate %r : tensor<5000x5000xf32>
  %k = stablehlo.exponential %n : tensor<5000x5000xf32>
  %o = stablehlo.dot_general %k, %v, contracting_dims = [1] x [0] : (tensor<5000x5000xf32>, tensor<5000xf32>) -> tensor<5000xf32>
  return %o : tensor<5000xf32>
}
