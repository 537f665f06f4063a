// The queries of a top-k; values that nobody reads are not put out.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<2xf32>, %[[A5:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.multiply"(%[[V1]], %[[V2]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]]:2 = "chlo.top_k"(%[[V3]]) <{k = 2 : i64}> : (tensor<2x6xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
// CHECK-NEXT: "weir.yield"(%[[V4]]#1) : (tensor<2x2xi32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x6xf32>", slice = 2 : i64} : (tensor<8xf32>, tensor<6xf32>) -> tensor<8x2xi32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8x2xi32>) -> ()
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>) -> tensor<8x2xi32> {
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xf32>
  %v, %i = chlo.top_k(%k, k = 2) : tensor<8x6xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)
  return %i : tensor<8x2xi32>
}
