// RUN: %weir opt %s --pass=counted | FileCheck %s

// CHECK-LABEL: sym_name = "all_places"
// CHECK-NOT: "stablehlo.gather"
// CHECK: "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK: "stablehlo.reshape"
// CHECK-SAME: (tensor<3x4xf32>) -> tensor<12xf32>
func.func @all_places(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %p = stablehlo.iota dim = 0 : tensor<12xi32>
  %n = stablehlo.constant dense<4> : tensor<12xi32>
  %q = stablehlo.divide %p, %n : tensor<12xi32>
  %r = stablehlo.remainder %p, %n : tensor<12xi32>
  %i = stablehlo.reshape %q : (tensor<12xi32>) -> tensor<12x1xi32>
  %j = stablehlo.reshape %r : (tensor<12xi32>) -> tensor<12x1xi32>
  %at = stablehlo.concatenate %i, %j, dim = 1 : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x2xi32>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xf32>, tensor<12x2xi32>) -> tensor<12xf32>
  return %y : tensor<12xf32>
}

// Rows by the inner digit, of five the first four.
// CHECK-LABEL: sym_name = "rows"
// CHECK: %[[S:.*]] = "stablehlo.slice"(%arg0) {{.*}} -> tensor<4x2xf32>
// CHECK: "stablehlo.broadcast_in_dim"(%[[S]]) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x2xf32>) -> tensor<3x4x2xf32>
func.func @rows(%x: tensor<5x2xf32>) -> tensor<12x2xf32> {
  %p = stablehlo.iota dim = 0 : tensor<12xi32>
  %n = stablehlo.constant dense<4> : tensor<12xi32>
  %r = stablehlo.remainder %p, %n : tensor<12xi32>
  %at = stablehlo.reshape %r : (tensor<12xi32>) -> tensor<12x1xi32>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<5x2xf32>, tensor<12x1xi32>) -> tensor<12x2xf32>
  return %y : tensor<12x2xf32>
}

// Added up over the digit that nothing names.
// CHECK-LABEL: sym_name = "sums"
// CHECK-NOT: "stablehlo.scatter"
// CHECK: %[[U:.*]] = "stablehlo.reshape"(%arg1) : (tensor<12xf32>) -> tensor<3x4xf32>
// CHECK: %[[R:.*]] = "stablehlo.reduce"(%[[U]], %{{.*}}) <{dimensions = array<i64: 1>}>
// CHECK: "stablehlo.add"(%arg0, %[[R]])
func.func @sums(%x: tensor<3xf32>, %u: tensor<12xf32>) -> tensor<3xf32> {
  %p = stablehlo.iota dim = 0 : tensor<12xi32>
  %n = stablehlo.constant dense<4> : tensor<12xi32>
  %q = stablehlo.divide %p, %n : tensor<12xi32>
  %at = stablehlo.reshape %q : (tensor<12xi32>) -> tensor<12x1xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>, tensor<12x1xi32>, tensor<12xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// The diagonal has one digit twice; five do not divide 12; what is put twice stays as it was put.
// CHECK-LABEL: sym_name = "left_alone"
// CHECK-COUNT-2: "stablehlo.gather"
// CHECK: "stablehlo.scatter"
func.func @left_alone(%x: tensor<12x12xf32>, %y: tensor<5xf32>, %z: tensor<3xf32>, %u: tensor<12xf32>) -> (tensor<12xf32>, tensor<12xf32>, tensor<3xf32>) {
  %p = stablehlo.iota dim = 0 : tensor<12xi32>
  %i = stablehlo.reshape %p : (tensor<12xi32>) -> tensor<12x1xi32>
  %at = stablehlo.concatenate %i, %i, dim = 1 : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x2xi32>
  %a = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<12x12xf32>, tensor<12x2xi32>) -> tensor<12xf32>
  %five = stablehlo.constant dense<5> : tensor<12xi32>
  %r = stablehlo.remainder %p, %five : tensor<12xi32>
  %j = stablehlo.reshape %r : (tensor<12xi32>) -> tensor<12x1xi32>
  %b = "stablehlo.gather"(%y, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<5xf32>, tensor<12x1xi32>) -> tensor<12xf32>
  %four = stablehlo.constant dense<4> : tensor<12xi32>
  %q = stablehlo.divide %p, %four : tensor<12xi32>
  %k = stablehlo.reshape %q : (tensor<12xi32>) -> tensor<12x1xi32>
  %c = "stablehlo.scatter"(%z, %k, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%d: tensor<f32>, %e: tensor<f32>):
    stablehlo.return %e : tensor<f32>
  }) : (tensor<3xf32>, tensor<12x1xi32>, tensor<12xf32>) -> tensor<3xf32>
  return %a, %b, %c : tensor<12xf32>, tensor<12xf32>, tensor<3xf32>
}

// What is gathered lies in front of the entries.
// CHECK-LABEL: sym_name = "entries_last"
// CHECK-NOT: "stablehlo.gather"
// CHECK: "func.return"
func.func @entries_last(%x: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %p = stablehlo.iota dim = 0 : tensor<12xi32>
  %at = stablehlo.reshape %p : (tensor<12xi32>) -> tensor<12x1xi32>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 12, 1>}> : (tensor<12x12xf32>, tensor<12x1xi32>) -> tensor<12x12xf32>
  return %y : tensor<12x12xf32>
}

// All of what is put into is overwritten, each place once.
// CHECK-LABEL: sym_name = "put_once"
// CHECK-NOT: "stablehlo.scatter"
// CHECK: %[[U:.*]] = "stablehlo.reshape"(%arg1) : (tensor<12x2xf32>) -> tensor<3x4x2xf32>
// CHECK: "func.return"(%[[U]])
func.func @put_once(%x: tensor<3x4x2xf32>, %u: tensor<12x2xf32>) -> tensor<3x4x2xf32> {
  %p = stablehlo.iota dim = 0 : tensor<12xi32>
  %n = stablehlo.constant dense<4> : tensor<12xi32>
  %q = stablehlo.divide %p, %n : tensor<12xi32>
  %r = stablehlo.remainder %p, %n : tensor<12xi32>
  %i = stablehlo.reshape %q : (tensor<12xi32>) -> tensor<12x1xi32>
  %j = stablehlo.reshape %r : (tensor<12xi32>) -> tensor<12x1xi32>
  %at = stablehlo.concatenate %i, %j, dim = 1 : (tensor<12x1xi32>, tensor<12x1xi32>) -> tensor<12x2xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x4x2xf32>, tensor<12x2xi32>, tensor<12x2xf32>) -> tensor<3x4x2xf32>
  return %y : tensor<3x4x2xf32>
}

// A part of what is put into stays: more rows than are put, or longer ones.
// CHECK-LABEL: sym_name = "partly"
// CHECK-NOT: "stablehlo.scatter"
// CHECK: "stablehlo.pad"(%arg2, {{.*}} -> tensor<5x2xf32>
// CHECK: "stablehlo.select"(%{{.*}}, %arg0)
// CHECK: "stablehlo.pad"(%arg2, {{.*}} -> tensor<3x4xf32>
// CHECK: "stablehlo.select"(%{{.*}}, %arg1)
func.func @partly(%x: tensor<5x2xf32>, %z: tensor<3x4xf32>, %u: tensor<3x2xf32>) -> (tensor<5x2xf32>, tensor<3x4xf32>) {
  %p = stablehlo.iota dim = 0 : tensor<3xi32>
  %at = stablehlo.reshape %p : (tensor<3xi32>) -> tensor<3x1xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<5x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  %w = "stablehlo.scatter"(%z, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<3x4xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  return %y, %w : tensor<5x2xf32>, tensor<3x4xf32>
}

// A digit of one index beside another index, in steps and from an offset on; what no digit names is
// repeated.
// CHECK-LABEL: sym_name = "digits_in_steps"
// CHECK-NOT: "stablehlo.gather"
// CHECK: %[[S:.*]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 6, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 1>}> : (tensor<7x5xf32>) -> tensor<3x2xf32>
// CHECK: %[[T:.*]] = "stablehlo.transpose"(%[[S]])
// CHECK: "stablehlo.broadcast_in_dim"(%[[T]]) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x3xf32>) -> tensor<2x3x4xf32>
// CHECK: "stablehlo.reshape"{{.*}} -> tensor<2x12xf32>
func.func @digits_in_steps(%x: tensor<7x5xf32>) -> tensor<2x12xf32> {
  %p = stablehlo.iota dim = 0 : tensor<12xi32>
  %n = stablehlo.constant dense<4> : tensor<12xi32>
  %two = stablehlo.constant dense<2> : tensor<12xi32>
  %one = stablehlo.constant dense<1> : tensor<12xi32>
  %q = stablehlo.divide %p, %n : tensor<12xi32>
  %s = stablehlo.multiply %q, %two : tensor<12xi32>
  %o = stablehlo.add %s, %one : tensor<12xi32>
  %i = stablehlo.broadcast_in_dim %o, dims = [1] : (tensor<12xi32>) -> tensor<2x12x1xi32>
  %j = stablehlo.iota dim = 0 : tensor<2x12x1xi32>
  %at = stablehlo.concatenate %i, %j, dim = 2 : (tensor<2x12x1xi32>, tensor<2x12x1xi32>) -> tensor<2x12x2xi32>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<7x5xf32>, tensor<2x12x2xi32>) -> tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}
