// A sum inside of what is made for each of many points is made again for each of them, or once for a group of rows: no kernel
// gains where the points are rows of a product. On any processor XLA's loop stays.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 40MB --tile auto --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s
// RUN: %weir opt %s --memory-limit 40MB --tile auto --machine x86-64-v3 --debug 3 2>&1 | FileCheck %s
// RUN: %weir opt %s --memory-limit 40MB --tile auto --machine x86-64-v2,cores=16 --debug 3 2>&1 | FileCheck %s
// CHECK: no kernel: predicted to gain too little
// CHECK-NOT: weir_tile
func.func @main(%left: tensor<128x160x32xf32>, %right: tensor<128x160x32xf32>, %w: tensor<32x32x64xf32>) -> tensor<160x160x64xf32> {
  %0 = stablehlo.dot_general %left, %right, contracting_dims = [0] x [0] : (tensor<128x160x32xf32>, tensor<128x160x32xf32>) -> tensor<160x32x160x32xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 1, 3] : (tensor<160x32x160x32xf32>) -> tensor<160x160x32x32xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [2, 3] x [0, 1] : (tensor<160x160x32x32xf32>, tensor<32x32x64xf32>) -> tensor<160x160x64xf32>
  return %2 : tensor<160x160x64xf32>
}
