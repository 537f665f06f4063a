// One index of what was flattened is one for each dimension; what is out of range stays so.
// RUN: %weir opt %s --pass=flat-index,dce | FileCheck %s

module {
  // Moved inside, then divided; the last part of an index has no remainder's room to leave.
  // CHECK: sym_name = "gathered"
  // CHECK: %[[X:.*]] = "stablehlo.sine"
  // CHECK: "stablehlo.maximum"
  // CHECK: %[[I:.*]] = "stablehlo.minimum"
  // CHECK: %[[ROW:.*]] = "stablehlo.divide"(%[[I]], %{{.*}}) : (tensor<5xi64>
  // CHECK: "stablehlo.concatenate"(%{{.*}}, %{{.*}}) <{dimension = 1 : i64}> : (tensor<5x1xi64>, tensor<5x1xi64>) -> tensor<5x2xi64>
  // CHECK: "stablehlo.gather"(%[[X]], %{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1, 2], start_index_map = [1, 2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1, 1, 7>}> : (tensor<2x3x4x7xf32>, tensor<5x2xi64>) -> tensor<2x5x7xf32>
  func.func @gathered(%a: tensor<2x3x4x7xf32>, %i: tensor<5x1xi32>) -> tensor<2x5x7xf32> {
    %x = stablehlo.sine %a : tensor<2x3x4x7xf32>
    %f = stablehlo.reshape %x : (tensor<2x3x4x7xf32>) -> tensor<2x12x7xf32>
    %g = "stablehlo.gather"(%f, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1, 7>}> : (tensor<2x12x7xf32>, tensor<5x1xi32>) -> tensor<2x5x7xf32>
    return %g : tensor<2x5x7xf32>
  }

  // Below 0 is behind the end, where it is dropped as well; no longer sorted.
  // CHECK: sym_name = "scattered"
  // CHECK: %[[BELOW:.*]] = "stablehlo.compare"
  // CHECK: "stablehlo.select"(%[[BELOW]]
  // CHECK: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}>
  // CHECK: (tensor<3x4xf32>, tensor<5x2xi64>, tensor<5xf32>) -> tensor<3x4xf32>
  func.func @scattered(%a: tensor<3x4xf32>, %i: tensor<5xi32>, %u: tensor<5xf32>) -> tensor<3x4xf32> {
    %f = stablehlo.reshape %a : (tensor<3x4xf32>) -> tensor<12xf32>
    %t = "stablehlo.scatter"(%f, %i, %u) <{indices_are_sorted = true, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<12xf32>, tensor<5xi32>, tensor<5xf32>) -> tensor<12xf32>
    %r = stablehlo.reshape %t : (tensor<12xf32>) -> tensor<3x4xf32>
    return %r : tensor<3x4xf32>
  }

  // An argument; dimensions of 1; ui64; a window; a flat scatter that others read.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-4: start_index_map = [0], index_vector_dim
  // CHECK: scatter_dims_to_operand_dims = [0], index_vector_dim
  func.func @left_alone(%a: tensor<3x4xf32>, %i: tensor<5x1xi32>, %j: tensor<5x1xui64>, %u: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<3x4xf32>, tensor<12xf32>) {
    %f = stablehlo.reshape %a : (tensor<3x4xf32>) -> tensor<12xf32>
    %0 = "stablehlo.gather"(%f, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<12xf32>, tensor<5x1xi32>) -> tensor<5xf32>
    %x = stablehlo.sine %f : tensor<12xf32>
    %y = stablehlo.reshape %x : (tensor<12xf32>) -> tensor<1x12xf32>
    %z = stablehlo.reshape %y : (tensor<1x12xf32>) -> tensor<12xf32>
    %1 = "stablehlo.gather"(%z, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<12xf32>, tensor<5x1xi32>) -> tensor<5xf32>
    %s = stablehlo.sine %a : tensor<3x4xf32>
    %v = stablehlo.reshape %s : (tensor<3x4xf32>) -> tensor<12xf32>
    %2 = "stablehlo.gather"(%v, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<12xf32>, tensor<5x1xui64>) -> tensor<5xf32>
    %3 = "stablehlo.gather"(%v, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>}> : (tensor<12xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
    %t = "stablehlo.scatter"(%f, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %k = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %k : tensor<f32>
    }) : (tensor<12xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<12xf32>
    %r = stablehlo.reshape %t : (tensor<12xf32>) -> tensor<3x4xf32>
    return %0, %1, %2, %3, %r, %t : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x2xf32>, tensor<3x4xf32>, tensor<12xf32>
  }
}
