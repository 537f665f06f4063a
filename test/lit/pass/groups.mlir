// A product of rows in groups is a product of rows under masks: what XLA for GPUs makes of it. XLA
// for TPUs multiplies group by group.
// RUN: %weir opt %s --pass=groups --machine=h100 | FileCheck %s
// RUN: %weir opt %s --pass=groups --machine=v5e | FileCheck %s --check-prefix=TPU

// TPU-COUNT-4: "chlo.ragged_dot"
module {
  // Where each group ends, and so begins; which rows are in it; the sum over all groups.
  // CHECK: sym_name = "rows"
  // CHECK: %[[E:.*]] = "stablehlo.reduce"(%{{.*}}) <{dimensions = array<i64: 1>}>
  // CHECK: %[[B:.*]] = "stablehlo.subtract"(%[[E]], %arg2) : (tensor<5xi32>
  // CHECK: "stablehlo.select"(%{{.*}}) : (tensor<5x20x6xi1>, tensor<5x20x6xf32>
  // CHECK: "stablehlo.dot_general"(%{{.*}}, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 2], rhs_contracting_dimensions = [0, 1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>]}>
  func.func @rows(%x: tensor<20x6xf32>, %w: tensor<5x6x3xf32>, %n: tensor<5xi32>) -> tensor<20x3xf32> {
    %0 = "chlo.ragged_dot"(%x, %w, %n) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<20x6xf32>, tensor<5x6x3xf32>, tensor<5xi32>) -> tensor<20x3xf32>
    return %0 : tensor<20x3xf32>
  }

  // Rows that are summed: a product for each group.
  // CHECK: sym_name = "summed"
  // CHECK: "stablehlo.dot_general"(%{{.*}}, %{{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>}> : (tensor<5x20x6xf32>, tensor<5x3x20xf32>) -> tensor<5x6x3xf32>
  func.func @summed(%x: tensor<20x6xf32>, %y: tensor<3x20xf32>, %n: tensor<5xi32>) -> tensor<5x6x3xf32> {
    %0 = "chlo.ragged_dot"(%x, %y, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<20x6xf32>, tensor<3x20xf32>, tensor<5xi32>) -> tensor<5x6x3xf32>
    return %0 : tensor<5x6x3xf32>
  }

  // Groups of batches, and numbers that do not fit the shapes.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-2: "chlo.ragged_dot"
  func.func @left_alone(%x: tensor<20x6xf32>, %w: tensor<20x6x3xf32>, %n: tensor<5xi32>) {
    %0 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<20x6xf32>, tensor<20x6x3xf32>, tensor<5xi32>) -> tensor<20x3xf32>
    %1 = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [7], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<20x6xf32>, tensor<20x6x3xf32>, tensor<5xi32>) -> tensor<20x3xf32>
    return
  }
}
