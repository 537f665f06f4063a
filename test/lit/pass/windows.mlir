// Windows at places that are data along all dimensions that could be sliced are scattered row by row.
// RUN: %weir opt %s --pass=windows,dce | FileCheck %s
// RUN: %weir opt %s --pass=windows,dce --skip=windows | FileCheck %s --check-prefix=SKIP
// SKIP-NOT: stablehlo.select

// CHECK:     sym_name = "patches"
// CHECK:     %[[AT:.*]] = "stablehlo.convert"(%arg1) : (tensor<5x2xi32>) -> tensor<5x2xi64>
// CHECK:     "stablehlo.constant"() <{value = dense<38> : tensor<5x2x1xi64>}>
// CHECK:     %[[IN:.*]] = "stablehlo.and"
// CHECK:     "stablehlo.constant"() <{value = dense<40> : tensor<5x2x1xi64>}>
// CHECK:     %[[ROWS:.*]] = "stablehlo.select"(%[[IN]], {{.*}} -> tensor<5x2x1xi64>
// CHECK:     %[[PLACES:.*]] = "stablehlo.concatenate"(%[[ROWS]], {{.*}} -> tensor<5x2x2xi64>
// CHECK:     "stablehlo.scatter"(%arg0, %[[PLACES]], %arg2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}>
func.func @patches(%x: tensor<40x30xf32>, %i: tensor<5x2xi32>, %u: tensor<5x2x3xf32>) -> (tensor<40x30xf32>) {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, indices_are_sorted = true, unique_indices = true}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x30xf32>, tensor<5x2xi32>, tensor<5x2x3xf32>) -> tensor<40x30xf32>
  return %y : tensor<40x30xf32>
}

// One number each, windows in front; of the other dimension there are three.
// CHECK:     sym_name = "columns"
// CHECK:     "stablehlo.scatter"({{.*}}update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}>
// CHECK:     (tensor<3x40xf32>, tensor<2x5x1xi64>, tensor<3x2x5xf32>)
func.func @columns(%x: tensor<3x40xf32>, %i: tensor<5xi8>, %u: tensor<3x2x5xf32>) -> (tensor<3x40xf32>) {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.maximum %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<3x40xf32>, tensor<5xi8>, tensor<3x2x5xf32>) -> tensor<3x40xf32>
  return %y : tensor<3x40xf32>
}

// Whole rows can be sliced along their columns.
// CHECK:     sym_name = "rows"
// CHECK:     "stablehlo.scatter"(%arg0, %arg1, %arg2)
func.func @rows(%x: tensor<40x30xf32>, %i: tensor<5x1xi32>, %u: tensor<5x2x30xf32>) -> (tensor<40x30xf32>) {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x30xf32>, tensor<5x1xi32>, tensor<5x2x30xf32>) -> tensor<40x30xf32>
  return %y : tensor<40x30xf32>
}

// So can what has points along one of its dimensions.
// CHECK:     sym_name = "points"
// CHECK:     "stablehlo.scatter"(%arg0, %arg1, %arg2)
func.func @points(%x: tensor<40x30xf32>, %i: tensor<5x2xi32>, %u: tensor<5x3xf32>) -> (tensor<40x30xf32>) {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x30xf32>, tensor<5x2xi32>, tensor<5x3xf32>) -> tensor<40x30xf32>
  return %y : tensor<40x30xf32>
}

// Which of two that meet stays depends on the order.
// CHECK:     sym_name = "set"
// CHECK:     "stablehlo.scatter"(%arg0, %arg1, %arg2)
func.func @set(%x: tensor<40x30xf32>, %i: tensor<5x2xi32>, %u: tensor<5x2x3xf32>) -> (tensor<40x30xf32>) {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<40x30xf32>, tensor<5x2xi32>, tensor<5x2x3xf32>) -> tensor<40x30xf32>
  return %y : tensor<40x30xf32>
}

// Unsigned numbers of 64 bits are more than i64 has.
// CHECK:     sym_name = "wide"
// CHECK:     "stablehlo.scatter"(%arg0, %arg1, %arg2)
func.func @wide(%x: tensor<40x30xf32>, %i: tensor<5x2xui64>, %u: tensor<5x2x3xf32>) -> (tensor<40x30xf32>) {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x30xf32>, tensor<5x2xui64>, tensor<5x2x3xf32>) -> tensor<40x30xf32>
  return %y : tensor<40x30xf32>
}
