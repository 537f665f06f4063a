// Ops that stretch their operands are broadcasts and the plain op.
// RUN: %weir opt %s --pass=implicit | FileCheck %s

module {
  // CHECK: sym_name = "stretched"
  // CHECK: %[[B:.*]] = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.multiply"(%arg0, %[[B]])
  // CHECK: %[[C:.*]] = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.power"(%arg0, %[[C]]) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[D:.*]] = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.compare"(%[[D]], %arg0) <{{.*}}#stablehlo<comparison_type FLOAT>{{.*}}#stablehlo<comparison_direction LT>
  // CHECK: "chlo.next_after"(%arg0, %arg0)
  // CHECK: "stablehlo.select"
  func.func @stretched(%a: tensor<4x6xf32>, %b: tensor<6xf32>, %c: tensor<4xf32>, %d: tensor<4x1xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %0 = chlo.broadcast_multiply %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    %1 = chlo.broadcast_power %a, %c {broadcast_dimensions = array<i64: 0>} : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
    %2 = chlo.broadcast_compare %d, %a {compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4x1xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %3 = chlo.broadcast_next_after %a, %a : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %4 = chlo.broadcast_select %2, %d, %b : (tensor<4x6xi1>, tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    return %0, %1, %2, %3, %4 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>
  }

  // Extents that nobody has or that do not fit, dimensions beyond the end, dynamic shapes.
  // CHECK: sym_name = "left_alone"
  // CHECK: "chlo.broadcast_add"
  // CHECK: "chlo.broadcast_add"
  // CHECK: "chlo.broadcast_add"
  // CHECK: "chlo.broadcast_add"
  // CHECK: "chlo.broadcast_and"
  // CHECK-NOT: "stablehlo.
  func.func @left_alone(%a: tensor<4x6xf32>, %b: tensor<5xf32>, %c: tensor<1xf32>, %d: tensor<?xf32>) -> (tensor<4x6xf32>, tensor<7xf32>, tensor<4x6xf32>, tensor<?xf32>, tensor<1xf32>) {
    %0 = chlo.broadcast_add %a, %b : (tensor<4x6xf32>, tensor<5xf32>) -> tensor<4x6xf32>
    %1 = chlo.broadcast_add %c, %c : (tensor<1xf32>, tensor<1xf32>) -> tensor<7xf32>
    %2 = chlo.broadcast_add %a, %c {broadcast_dimensions = array<i64: 9>} : (tensor<4x6xf32>, tensor<1xf32>) -> tensor<4x6xf32>
    %3 = chlo.broadcast_add %d, %c : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
    %4 = chlo.broadcast_and %c, %c : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    return %0, %1, %2, %3, %4 : tensor<4x6xf32>, tensor<7xf32>, tensor<4x6xf32>, tensor<?xf32>, tensor<1xf32>
  }
}
