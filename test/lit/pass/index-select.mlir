// torch_index_select is a gather; what it shares with its indices are batching dimensions.
// RUN: %weir opt %s --pass=index-select | FileCheck %s

module {
  // CHECK: sym_name = "rows"
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x6xf32>
  func.func @rows(%x: tensor<4x6xf32>, %i: tensor<2x3xi32>) -> tensor<2x3x6xf32> {
    %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x6xf32>
    return %0 : tensor<2x3x6xf32>
  }

  // CHECK: sym_name = "batch"
  // CHECK: %[[I:.*]] = "stablehlo.convert"(%arg1) : (tensor<4x3xi64>) -> tensor<4x3xui32>
  // CHECK: "stablehlo.gather"(%arg0, %[[I]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 3], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 5, 1, 7>}>
  func.func @batch(%x: tensor<4x5x6x7xf32>, %i: tensor<4x3xi64>) -> tensor<4x5x3x7xf32> {
    %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 2 : i64, batch_dims = 1 : i64}> : (tensor<4x5x6x7xf32>, tensor<4x3xi64>) -> tensor<4x5x3x7xf32>
    return %0 : tensor<4x5x3x7xf32>
  }

  // Numbers and shapes that do not fit; nothing to select from.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-7: "stablehlo.torch_index_select"
  func.func @left_alone(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %f: tensor<3xf32>, %e: tensor<0x6xf32>) {
    %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 2 : i64, batch_dims = 0 : i64}> : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<4x3xf32>
    %1 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 1 : i64}> : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<3x6xf32>
    %2 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = -9223372036854775808 : i64}> : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<3x6xf32>
    %3 = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x6xf32>, tensor<3xi32>) -> tensor<3x7xf32>
    %4 = "stablehlo.torch_index_select"(%x, %f) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x6xf32>, tensor<3xf32>) -> tensor<3x6xf32>
    %5 = "stablehlo.torch_index_select"(%e, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<0x6xf32>, tensor<3xi32>) -> tensor<3x6xf32>
    %6 = "stablehlo.torch_index_select"(%x) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x6xf32>) -> tensor<3x6xf32>
    return
  }
}
