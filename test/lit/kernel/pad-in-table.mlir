// What a pad is made from is made once for each index of its result where that is filled number by number: a table of 12 points to a row, of
// which 3 are no zeros. That is no gain here, though 60,000 tanhs alone would be one.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 1000000 --tile auto --machine x86-64-v4 --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK: kernel: row 20000 column 64 inner 3 point 12 inner 3 point 12; 2 passes
// CHECK: no kernel: predicted to gain too little
// CHECK: pass kernels: {{.*}} (unchanged)
func.func @main(%x: tensor<20000x3xf32>, %w: tensor<3x64xf32>, %u: tensor<64x12xf32>) -> tensor<64x12xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<20000x3xf32>, tensor<3x64xf32>) -> tensor<20000x64xf32>
  %h = stablehlo.tanh %a : tensor<20000x64xf32>
  %o = stablehlo.dot_general %h, %u, contracting_dims = [1] x [0] : (tensor<20000x64xf32>, tensor<64x12xf32>) -> tensor<20000x12xf32>
  %t = stablehlo.slice %o [0:20000, 3:6] : (tensor<20000x12xf32>) -> tensor<20000x3xf32>
  %s = stablehlo.tanh %t : tensor<20000x3xf32>
  %p = stablehlo.pad %s, %zero, low = [0, 3], high = [0, 6], interior = [0, 0] : (tensor<20000x3xf32>, tensor<f32>) -> tensor<20000x12xf32>
  %r = stablehlo.dot_general %h, %p, contracting_dims = [0] x [0] : (tensor<20000x64xf32>, tensor<20000x12xf32>) -> tensor<64x12xf32>
  return %r : tensor<64x12xf32>
}
