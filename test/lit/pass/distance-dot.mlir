// Squared distances as a product of the differences with themselves become a product of the points.
// RUN: %weir opt %s --pass=distance,dce | FileCheck %s
module {
  // CHECK: sym_name = "by_dot"
  // CHECK-NOT: x7x16x
  // CHECK: "stablehlo.dot_general"({{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<5x16xf64>, tensor<7x16xf64>) -> tensor<5x7xf64>
  func.func public @by_dot(%x: tensor<5x16xf32>, %y: tensor<7x16xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x16xf32>) -> tensor<5x7x16xf32>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x16xf32>) -> tensor<5x7x16xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<5x7x16xf32>
    %3 = stablehlo.dot_general %2, %2, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<5x7x16xf32>, tensor<5x7x16xf32>) -> tensor<5x7xf32>
    return %3 : tensor<5x7xf32>
  }
}
