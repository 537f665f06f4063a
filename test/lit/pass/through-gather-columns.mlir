// Where arrays lie in tiles a copy of all of w would be made to gather its columns; of rows none is.
// RUN: %weir opt %s --machine v5e --pass=through-gather,dce | FileCheck %s --check-prefixes=TILES,BOTH
// RUN: %weir opt %s --machine h100 --pass=through-gather,dce | FileCheck %s --check-prefixes=DENSE,BOTH

module {
  // BOTH: sym_name = "columns"
  // TILES: %[[Y:[0-9]+]] = "stablehlo.dot_general"
  // TILES: "stablehlo.gather"(%[[Y]], 
  // DENSE-NOT: tensor<8x40xf32>
  // DENSE: "stablehlo.gather"(%arg1, {{.*}}slice_sizes = array<i64: 3, 1>
  func.func public @columns(%x: tensor<8x3xf32>, %w: tensor<3x40xf32>, %label: tensor<8x1xi32>) -> tensor<8xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x3xf32>, tensor<3x40xf32>) -> tensor<8x40xf32>
    %1 = "stablehlo.gather"(%0, %label) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x40xf32>, tensor<8x1xi32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }

  // BOTH: sym_name = "rows"
  // BOTH-NOT: tensor<8x40xf32>
  // BOTH: "stablehlo.gather"(%arg1, {{.*}}slice_sizes = array<i64: 1, 3>
  func.func public @rows(%x: tensor<8x3xf32>, %w: tensor<40x3xf32>, %label: tensor<8x1xi32>) -> tensor<8xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<40x3xf32>) -> tensor<8x40xf32>
    %1 = "stablehlo.gather"(%0, %label) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x40xf32>, tensor<8x1xi32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
