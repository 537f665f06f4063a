// A batch dimension: on both operands and the result.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8x3xf32>, %[[A1:[a-z0-9]+]]: tensor<8x3x1xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<1x3xf32>, %[[A5:[a-z0-9]+]]: tensor<1x3x1xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<1x3xf32>) -> tensor<1x3x3xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.exponential"(%[[V1]]) : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.dot_general"(%[[V2]], %[[A5]]) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<1x3x3xf32>, tensor<1x3x1xf32>) -> tensor<1x3x1xf32>
// CHECK-NEXT: "weir.yield"(%[[V3]]) : (tensor<1x3x1xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x3x3xf32>", slice = 1 : i64} : (tensor<8x3xf32>, tensor<8x3x1xf32>) -> tensor<8x3x1xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8x3x1xf32>) -> ()
func.func public @main(%x: tensor<8x3xf32>, %b: tensor<8x3x1xf32>) -> tensor<8x3x1xf32> {
  %xs = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x3xf32>) -> tensor<8x3x3xf32>
  %e = stablehlo.exponential %xs : tensor<8x3x3xf32>
  %d = stablehlo.dot_general %e, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x3x3xf32>, tensor<8x3x1xf32>) -> tensor<8x3x1xf32>
  return %d : tensor<8x3x1xf32>
}
