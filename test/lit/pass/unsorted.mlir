// What is made of sorted rows and goes back to where they came from is made of them as they came: put in place, added
// up at places that are made of the permutation, read in the order of its inverse; an iota becomes the inverse. Not:
// what is wanted sorted, too; at other places; what looks at its neighbours; what something computed would
// be gathered for.
// RUN: %weir opt %s --pass=unsorted,dce | FileCheck %s

// CHECK-LABEL: sym_name = "put"
// CHECK: %[[I:[0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64xi32>
// CHECK: %[[J:[0-9]+]] = "stablehlo.reshape"(%[[I]])
// CHECK: %[[D:[0-9]+]] = "stablehlo.gather"(%arg1, %[[J]])
// CHECK: %[[K:[0-9]+]] = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0>}>
// CHECK: %[[Y:[0-9]+]] = "stablehlo.multiply"(%[[D]], %[[K]])
// CHECK: %[[Z:[0-9]+]] = "stablehlo.dot_general"(%[[Y]], %arg2)
// CHECK: %[[R:[0-9]+]] = "stablehlo.scatter"(%{{[0-9]+}}, %[[J]], %[[Z]])
// CHECK: "func.return"(%[[R]])
func.func @put(%x: tensor<64xf32>, %d: tensor<64x4xf32>, %w: tensor<4x4xf32>) -> tensor<64x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %k = stablehlo.broadcast_in_dim %s#0, dims = [0] : (tensor<64xf32>) -> tensor<64x4xf32>
  %y = stablehlo.multiply %r, %k : tensor<64x4xf32>
  %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %out = "stablehlo.scatter"(%zeros, %p, %z) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64x4xf32>, tensor<64x1xi32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %out : tensor<64x4xf32>
}

// Other columns of the rows, and none beside them.
// CHECK-LABEL: sym_name = "columns"
// CHECK: %[[I:[0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64xi32>
// CHECK: %[[J:[0-9]+]] = "stablehlo.reshape"(%[[I]])
// CHECK: %[[D:[0-9]+]] = "stablehlo.gather"(%arg1, %[[J]])
// CHECK: %[[P:[0-9]+]] = "stablehlo.pad"(%[[D]],
// CHECK: %[[Y:[0-9]+]] = "stablehlo.slice"(%[[P]])
// CHECK: "stablehlo.scatter"(%{{[0-9]+}}, %[[J]], %[[Y]])
func.func @columns(%x: tensor<64xf32>, %d: tensor<64x4xf32>, %w: tensor<4x4xf32>) -> tensor<64x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.pad %r, %none, low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<64x4xf32>, tensor<f32>) -> tensor<64x7xf32>
  %z = stablehlo.slice %y [0:64, 0:4] : (tensor<64x7xf32>) -> tensor<64x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %out = "stablehlo.scatter"(%zeros, %p, %z) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64x4xf32>, tensor<64x1xi32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %out : tensor<64x4xf32>
}

// CHECK-LABEL: sym_name = "added"
// CHECK: %[[S:[0-9]+]]:2 = "stablehlo.sort"
// CHECK: %[[Q:[0-9]+]] = "stablehlo.scatter"(%{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}})
// CHECK: %[[H:[0-9]+]] = "stablehlo.divide"(%[[I:[0-9]+]], %{{[0-9]+}}) : (tensor<64xi32>, tensor<64xi32>)
// CHECK: "stablehlo.gather"(%arg1,
// CHECK: %[[B:[0-9]+]] = "stablehlo.broadcast_in_dim"(%[[Q]]) <{broadcast_dimensions = array<i64: 0>}>
// CHECK: "stablehlo.compare"(%[[B]],
// CHECK: "stablehlo.scatter"
func.func @added(%x: tensor<64xf32>, %d: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %two = stablehlo.constant dense<2> : tensor<64xi32>
  %half = stablehlo.divide %s#1, %two : tensor<64xi32>
  %p = stablehlo.reshape %half : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<32x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %by = stablehlo.iota dim = 0 : tensor<64x4xi32>
  %ten = stablehlo.constant dense<10> : tensor<64x4xi32>
  %mask = stablehlo.compare LT, %by, %ten : (tensor<64x4xi32>, tensor<64x4xi32>) -> tensor<64x4xi1>
  %none = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %y = stablehlo.select %mask, %r, %none : tensor<64x4xi1>, tensor<64x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<32x4xf32>
  %out = "stablehlo.scatter"(%zeros, %p, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %h = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %h : tensor<f32>
  }) : (tensor<32x4xf32>, tensor<64x1xi32>, tensor<64x4xf32>) -> tensor<32x4xf32>
  return %out : tensor<32x4xf32>
}

// CHECK-LABEL: sym_name = "read_back"
// CHECK-NOT: "stablehlo.sort"
// CHECK: %[[D:[0-9]+]] = "stablehlo.gather"(%arg1,
// CHECK: %[[E:[0-9]+]] = "stablehlo.negate"(%[[D]])
// CHECK: "stablehlo.gather"(%[[E]],
func.func @read_back(%x: tensor<64xf32>, %d: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %t:2 = "stablehlo.sort"(%s#1, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %y = stablehlo.negate %r : tensor<64x4xf32>
  %q = stablehlo.reshape %t#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %out = "stablehlo.gather"(%y, %q) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  return %out : tensor<64x4xf32>
}

// Sorted rows are a result; the second inverse is of another order, the largest first.
// CHECK-LABEL: sym_name = "wanted_sorted"
// CHECK: "stablehlo.sort"
// CHECK: "stablehlo.sort"
// CHECK: %[[R:[0-9]+]] = "stablehlo.gather"(%arg1,
// CHECK: %[[N:[0-9]+]] = "stablehlo.negate"(%[[R]])
// CHECK: "stablehlo.gather"(%[[N]],
// CHECK: "stablehlo.scatter"
func.func @wanted_sorted(%x: tensor<64xf32>, %d: tensor<64x4xf32>) -> (tensor<64x4xf32>, tensor<64x4xf32>, tensor<64x4xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %t:2 = "stablehlo.sort"(%s#1, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %y = stablehlo.negate %r : tensor<64x4xf32>
  %q = stablehlo.reshape %t#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %other = "stablehlo.gather"(%y, %q) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %out = "stablehlo.scatter"(%zeros, %p, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64x4xf32>, tensor<64x1xi32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %y, %other, %out : tensor<64x4xf32>, tensor<64x4xf32>, tensor<64x4xf32>
}

// Two rows are put in each place: the last of them stays. (Of sums any order would do.)
// CHECK-LABEL: sym_name = "met"
// CHECK: %[[S:[0-9]+]]:2 = "stablehlo.sort"
// CHECK: %[[P:[0-9]+]] = "stablehlo.divide"(%[[S]]#1,
// CHECK: %[[J:[0-9]+]] = "stablehlo.reshape"(%[[P]])
// CHECK: %[[R:[0-9]+]] = "stablehlo.gather"(%arg1, %[[J]])
// CHECK: "stablehlo.scatter"(%{{[0-9]+}}, %[[J]], %[[R]])
func.func @met(%x: tensor<64xf32>, %d: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %two = stablehlo.constant dense<2> : tensor<64xi32>
  %half = stablehlo.divide %s#1, %two : tensor<64xi32>
  %p = stablehlo.reshape %half : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<32x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<32x4xf32>
  %out = "stablehlo.scatter"(%zeros, %p, %r) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<32x4xf32>, tensor<64x1xi32>, tensor<64x4xf32>) -> tensor<32x4xf32>
  return %out : tensor<32x4xf32>
}

// What rows are multiplied with is computed, in the order of the sort: it would be there whole.
// CHECK-LABEL: sym_name = "computed_beside"
// CHECK: %[[S:[0-9]+]]:2 = "stablehlo.sort"
// CHECK: %[[J:[0-9]+]] = "stablehlo.reshape"(%[[S]]#1)
// CHECK: "stablehlo.gather"(%arg1, %[[J]])
// CHECK: "stablehlo.scatter"(%{{[0-9]+}}, %[[J]],
func.func @computed_beside(%x: tensor<64xf32>, %d: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<64x1xi32>) -> tensor<64x4xf32>
  %e = stablehlo.sine %d : tensor<64x4xf32>
  %y = stablehlo.multiply %r, %e : tensor<64x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %out = "stablehlo.scatter"(%zeros, %p, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64x4xf32>, tensor<64x1xi32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %out : tensor<64x4xf32>
}

// Each entry is put in two rows, one of which the next place has, too: the last of them stays.
// CHECK-LABEL: sym_name = "windows_meet"
// CHECK: %[[S:[0-9]+]]:2 = "stablehlo.sort"
// CHECK: %[[J:[0-9]+]] = "stablehlo.reshape"(%[[S]]#1)
// CHECK: %[[R:[0-9]+]] = "stablehlo.gather"(%arg1, %[[J]])
// CHECK: "stablehlo.scatter"(%{{[0-9]+}}, %[[J]], %[[R]])
func.func @windows_meet(%x: tensor<64xf32>, %d: tensor<64x2x4xf32>) -> tensor<65x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%d, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2, 4>}> : (tensor<64x2x4xf32>, tensor<64x1xi32>) -> tensor<64x2x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<65x4xf32>
  %out = "stablehlo.scatter"(%zeros, %p, %r) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<65x4xf32>, tensor<64x1xi32>, tensor<64x2x4xf32>) -> tensor<65x4xf32>
  return %out : tensor<65x4xf32>
}

// The k-th entry is added to in the k-th row: a batch of scatters, whose order is the rows'.
// CHECK-LABEL: sym_name = "batch"
// CHECK: %[[S:[0-9]+]]:2 = "stablehlo.sort"
// CHECK: %[[J:[0-9]+]] = "stablehlo.reshape"(%[[S]]#1)
// CHECK: %[[U:[0-9]+]] = "stablehlo.gather"(%arg1, %[[J]])
// CHECK: %[[K:[0-9]+]] = "stablehlo.gather"(%arg2, %[[J]])
// CHECK: %[[L:[0-9]+]] = "stablehlo.reshape"(%[[K]])
// CHECK: "stablehlo.scatter"(%{{[0-9]+}}, %[[L]], %[[U]])
func.func @batch(%x: tensor<64xf32>, %u: tensor<64xf32>, %c: tensor<64xi32>) -> tensor<64x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %r = "stablehlo.gather"(%u, %p) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<64xf32>, tensor<64x1xi32>) -> tensor<64xf32>
  %k = "stablehlo.gather"(%c, %p) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<64xi32>, tensor<64x1xi32>) -> tensor<64xi32>
  %at = stablehlo.reshape %k : (tensor<64xi32>) -> tensor<64x1xi32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x4xf32>
  %out = "stablehlo.scatter"(%zeros, %at, %r) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %h = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %h : tensor<f32>
  }) : (tensor<64x4xf32>, tensor<64x1xi32>, tensor<64xf32>) -> tensor<64x4xf32>
  return %out : tensor<64x4xf32>
}
