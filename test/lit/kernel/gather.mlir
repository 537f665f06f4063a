// Gathers inside of a kernel: rows of a table in vectors, where the places have no columns; else element by element. Windows that are cut
// out of a dimension that an index names, and what is computed in the loop, are not covered.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 100000 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s

// Features of neighbours: lanes are features. Elements of each row's own list: lanes are places.
// CHECK: kernel: row 900 inner 20 column 40 inner 5000; 1 passes
// CHECK: kernel: row 900 column 300 inner 800; 1 passes
// CHECK: no kernel: a gather of windows
// CHECK: weir_tile
// CHECK: weir_tile
// CHECK: stablehlo.while
// CHECK-NOT: weir_tile
func.func @main(%x: tensor<5000x40xf32>, %i: tensor<900x20x1xi32>, %own: tensor<900x800xf32>, %j: tensor<900x300x1xui8>, %k: tensor<900x30x1xi32>)
    -> (tensor<900x40xf32>, tensor<900xf32>, tensor<900x30xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 40>}> : (tensor<5000x40xf32>, tensor<900x20x1xi32>) -> tensor<900x20x40xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<900x20x40xf32>, tensor<f32>) -> tensor<900x40xf32>
  %2 = "stablehlo.gather"(%own, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<900x800xf32>, tensor<900x300x1xui8>) -> tensor<900x300xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<900x300xf32>, tensor<f32>) -> tensor<900xf32>
  %4 = "stablehlo.gather"(%x, %k) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 7, 1>}> : (tensor<5000x40xf32>, tensor<900x30x1xi32>) -> tensor<900x30x7xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<900x30x7xf32>, tensor<f32>) -> tensor<900x30xf32>
  return %1, %3, %5 : tensor<900x40xf32>, tensor<900xf32>, tensor<900x30xf32>
}
