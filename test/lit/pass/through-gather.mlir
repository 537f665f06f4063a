// Single elements of a large tensor are made from what the tensor is made of; written ones are selects.
// RUN: %weir opt %s --pass=through-gather,dce | FileCheck %s

module {
  // logits[i, label_i] is the product of row i and the label's row.
  // CHECK: sym_name = "product"
  // CHECK-NOT: tensor<8x40xf32>
  // CHECK: %[[AT:[0-9]+]] = "stablehlo.minimum"
  // CHECK: %[[ROWS:[0-9]+]] = "stablehlo.gather"(%arg1, %{{[0-9]+}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}>
  // CHECK-NEXT: %[[TERMS:[0-9]+]] = "stablehlo.multiply"(%arg0, %[[ROWS]])
  // CHECK: %[[SUM:[0-9]+]] = "stablehlo.reduce"(%[[TERMS]]
  // CHECK: "func.return"(%[[SUM]])
  func.func public @product(%x: tensor<8x3xf32>, %w: tensor<40x3xf32>, %label: tensor<8x1xi32>) -> tensor<8xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<40x3xf32>) -> tensor<8x40xf32>
    %1 = "stablehlo.gather"(%0, %label) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x40xf32>, tensor<8x1xi32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }

  // Rows of a slice are a slice of rows.
  // CHECK: sym_name = "sliced"
  // CHECK: %[[ROWS:[0-9]+]] = "stablehlo.gather"(%arg1, {{.*}}slice_sizes = array<i64: 1, 5>
  // CHECK-NEXT: "stablehlo.slice"(%[[ROWS]]) <{limit_indices = array<i64: 8, 4>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}>
  func.func public @sliced(%x: tensor<8x3xf32>, %all: tensor<40x5xf32>, %label: tensor<8x1xi32>) -> tensor<8xf32> {
    %w = stablehlo.slice %all [0:40, 1:4] : (tensor<40x5xf32>) -> tensor<40x3xf32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x3xf32>, tensor<40x3xf32>) -> tensor<8x40xf32>
    %1 = "stablehlo.gather"(%0, %label) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x40xf32>, tensor<8x1xi32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }

  // Rows counted by an index are their own; what is done element by element is done to the picked ones.
  // CHECK: sym_name = "indexed"
  // CHECK-NOT: tensor<8x40xf32>
  // CHECK: %[[COLUMNS:[0-9]+]] = "stablehlo.gather"(%arg1
  // CHECK: %[[DIFFERENCE:[0-9]+]] = "stablehlo.subtract"(%arg0, %[[COLUMNS]]) : (tensor<8xf32>
  // CHECK-NEXT: %[[Y:[0-9]+]] = "stablehlo.tanh"(%[[DIFFERENCE]])
  // CHECK-NEXT: "func.return"(%[[Y]])
  func.func public @indexed(%x: tensor<8xf32>, %y: tensor<40xf32>, %label: tensor<8x1xi32>) -> tensor<8xf32> {
    %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x40xf32>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<40xf32>) -> tensor<8x40xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<8x40xf32>
    %3 = stablehlo.tanh %2 : tensor<8x40xf32>
    %4 = stablehlo.iota dim = 0 : tensor<8x1xi32>
    %5 = stablehlo.concatenate %4, %label, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
    %6 = "stablehlo.gather"(%3, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x40xf32>, tensor<8x2xi32>) -> tensor<8xf32>
    return %6 : tensor<8xf32>
  }

  // One element a row is added to: a select, by an index that is compared as it is, not clamped into bounds.
  // CHECK: sym_name = "written"
  // CHECK: %[[COUNT:[0-9]+]] = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x40xi32>
  // CHECK-NEXT: %[[HERE:[0-9]+]] = "stablehlo.compare"(%[[COUNT]]
  // CHECK: %[[SUM:[0-9]+]] = "stablehlo.add"(%[[X:[0-9]+]]
  // CHECK-NEXT: %[[Y:[0-9]+]] = "stablehlo.select"(%[[HERE]], %[[SUM]], %[[X]])
  // CHECK-NEXT: "func.return"(%[[Y]])
  func.func public @written(%x: tensor<8x40xf32>, %u: tensor<8xf32>, %label: tensor<8x1xi32>) -> tensor<8x40xf32> {
    %y = stablehlo.exponential %x : tensor<8x40xf32>
    %0 = "stablehlo.scatter"(%y, %label, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<8x40xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x40xf32>
    return %0 : tensor<8x40xf32>
  }

  // On a diagonal: of two dimensions that the same index says one is counted.
  // CHECK: sym_name = "on_diagonal"
  // CHECK: %[[COUNT:[0-9]+]] = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<40x41xi32>
  // CHECK-NEXT: %[[HERE:[0-9]+]] = "stablehlo.compare"(%[[COUNT]]
  // CHECK: %[[Y:[0-9]+]] = "stablehlo.select"(%[[HERE]], %{{[0-9]+}}, %{{[0-9]+}})
  // CHECK-NEXT: "func.return"(%[[Y]])
  func.func public @on_diagonal(%x: tensor<41xf32>, %u: tensor<40xf32>) -> tensor<40x41xf32> {
    %y = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<41xf32>) -> tensor<40x41xf32>
    %i = stablehlo.iota dim = 0 : tensor<40x1xi32>
    %0 = "stablehlo.scatter"(%y, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<40x41xf32>, tensor<40x1xi32>, tensor<40xf32>) -> tensor<40x41xf32>
    return %0 : tensor<40x41xf32>
  }

  // Left alone: arguments; rows that would be more than half of the product; entries that may meet.
  // CHECK: sym_name = "left"
  // CHECK: "stablehlo.gather"(%arg0
  // CHECK: "stablehlo.scatter"(%arg0
  // CHECK: "stablehlo.dot_general"
  // CHECK: "stablehlo.gather"
  // CHECK: "stablehlo.scatter"
  func.func public @left(%x: tensor<8x40xf32>, %w: tensor<8x30xf32>, %v: tensor<40x30xf32>, %label: tensor<8x1xi32>, %u: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<40xf32>, tensor<8x40xf32>) {
    %0 = "stablehlo.gather"(%x, %label) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x40xf32>, tensor<8x1xi32>) -> tensor<8xf32>
    %6 = "stablehlo.scatter"(%x, %label, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %7 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<8x40xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8x40xf32>
    %1 = stablehlo.dot_general %w, %v, contracting_dims = [1] x [1] : (tensor<8x30xf32>, tensor<40x30xf32>) -> tensor<8x40xf32>
    %2 = "stablehlo.gather"(%1, %label) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x40xf32>, tensor<8x1xi32>) -> tensor<8xf32>
    %3 = stablehlo.constant dense<0.0> : tensor<40xf32>
    %4 = "stablehlo.scatter"(%3, %label, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<40xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<40xf32>
    return %0, %2, %4, %6 : tensor<8xf32>, tensor<8xf32>, tensor<40xf32>, tensor<8x40xf32>
  }

  // How many are read is known only when it runs.
  // CHECK: sym_name = "bounded"
  // CHECK: "stablehlo.exponential"
  // CHECK-NEXT: "stablehlo.gather"
  // CHECK-NEXT: "func.return"
  func.func private @bounded(%x: tensor<8xf32>, %i: tensor<?xi64, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<4>> {
    %e = stablehlo.exponential %x : tensor<8xf32>
    %g = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<?xi64, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<4>>
    return %g : tensor<?xf32, #stablehlo.bounds<4>>
  }
}
