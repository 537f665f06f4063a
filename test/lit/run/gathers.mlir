// Kernels that gather give what the gathers give: rows of a table in vectors, elements of each row's own list one by one.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 2 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
func.func @main(%x: tensor<500x40xf32>, %i: tensor<90x20x1xi32>, %own: tensor<90x80xf32>, %j: tensor<90x300x1xi32>) -> (tensor<90x40xf32>, tensor<90xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 40>}> : (tensor<500x40xf32>, tensor<90x20x1xi32>) -> tensor<90x20x40xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<90x20x40xf32>, tensor<f32>) -> tensor<90x40xf32>
  %2 = "stablehlo.gather"(%own, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<90x80xf32>, tensor<90x300x1xi32>) -> tensor<90x300xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<90x300xf32>, tensor<f32>) -> tensor<90xf32>
  return %1, %3 : tensor<90x40xf32>, tensor<90xf32>
}
