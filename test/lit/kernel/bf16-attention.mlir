// Attention whose scores are bf16: XLA finds their largest element by element, in bf16, so that a kernel gains in spite of its
// roundings and three passes over the columns. In f16 XLA's loop stays.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 20MB --tile auto --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --memory-limit 20MB --tile auto --machine x86-64-v3 | FileCheck %s
// RUN: sed 's/bf16/f16/g; s/0xFF80/0xFC00/' %s > %t.mlir
// RUN: %weir opt %t.mlir --memory-limit 20MB --tile auto --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: %weir opt %t.mlir --memory-limit 20MB --tile auto --machine x86-64-v3 --debug 3 2>&1 | FileCheck %s --check-prefix=HALF
// CHECK: was_bf16 = true
// CHECK-NOT: stablehlo.while
// HALF: no kernel: predicted to gain too little
// HALF: stablehlo.while
func.func @main(%arg0: tensor<8x1024x64xbf16>, %arg1: tensor<8x1024x64xbf16>, %arg2: tensor<8x1024x64xbf16>) -> (tensor<8x1024x64xbf16>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xbf16>
  %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xbf16>, tensor<bf16>) -> tensor<8x1024xbf16>
  %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<8x1024xbf16>
  %3 = stablehlo.maximum %2, %1 : tensor<8x1024xbf16>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<8x1024xbf16>) -> tensor<8x1024x1xbf16>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<8x1024x1xbf16>) -> tensor<8x1024x1024xbf16>
  %6 = stablehlo.subtract %0, %5 : tensor<8x1024x1024xbf16>
  %7 = stablehlo.exponential %6 : tensor<8x1024x1024xbf16>
  %8 = stablehlo.convert %7 : (tensor<8x1024x1024xbf16>) -> tensor<8x1024x1024xf32>
  %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %9 = stablehlo.reduce(%8 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
  %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1xf32>
  %11 = stablehlo.convert %10 : (tensor<8x1024x1xf32>) -> tensor<8x1024x1xbf16>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x1024x1xbf16>) -> tensor<8x1024x1024xbf16>
  %13 = stablehlo.divide %7, %12 : tensor<8x1024x1024xbf16>
  %14 = stablehlo.dot_general %13, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
  return %14 : tensor<8x1024x64xbf16>
}
