// Rows of a table that is larger than the caches are read where they are. A copy of the table would be made for each chunk of rows: it was,
// and took eight times as long. The scratch has room for none (the table: 4 MB).
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 1000000 --tile on --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 1000000 --tile on --machine x86-64-v3 | FileCheck %s

// CHECK: weir_tile
// CHECK-SAME: (tensor<3000xf32>, tensor<{{[0-9][0-9]?[0-9]?[0-9]?}}xui8>)
func.func @main(%t: tensor<1000x1000xf32>, %i: tensor<3000x1xi32>) -> tensor<3000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1000>}> : (tensor<1000x1000xf32>, tensor<3000x1xi32>) -> tensor<3000x1000xf32>
  %1 = stablehlo.exponential %0 : tensor<3000x1000xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3000x1000xf32>, tensor<f32>) -> tensor<3000xf32>
  return %2 : tensor<3000xf32>
}
