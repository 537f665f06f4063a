// Batches of cholesky; columns of a triangular solve, whose matrix is read whole.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8x3xf32>, %[[A1:[a-z0-9]+]]: tensor<3x3xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A1]]) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "weir.loop"(%[[A0]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<1x3xf32>):
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<1x3xf32>) -> tensor<1x3x3xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.cholesky"(%[[V2]]) <{lower = true}> : (tensor<1x3x3xf32>) -> tensor<1x3x3xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.reduce"(%[[V3]], %[[V4]]) <{dimensions = array<i64: 1, 2>}> ({
// CHECK-NEXT: ^bb0(%[[A5:[a-z0-9]+]]: tensor<f32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.add"(%[[A5]], %[[A6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V6]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<1x3x3xf32>, tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: "weir.yield"(%[[V5]]) : (tensor<1xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x3x3xf32>", slice = 1 : i64} : (tensor<8x3xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "weir.loop"(%[[V0]], %[[A0]]) ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<i64>, %[[A8:[a-z0-9]+]]: tensor<i64>, %[[A9:[a-z0-9]+]]: tensor<2x3x3xf32>, %[[A10:[a-z0-9]+]]: tensor<2x3xf32>):
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A10]]) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<2x3xf32>) -> tensor<2x3x2xf32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.triangular_solve"(%[[A9]], %[[V8]]) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.reduce"(%[[V9]], %[[V10]]) <{dimensions = array<i64: 0, 1>}> ({
// CHECK-NEXT: ^bb0(%[[A11:[a-z0-9]+]]: tensor<f32>, %[[A12:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[A11]], %[[A12]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V12]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x3x2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: "weir.yield"(%[[V11]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: -1, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<2x3x8xf32>", slice = 2 : i64} : (tensor<2x3x3xf32>, tensor<8x3xf32>) -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V1]], %[[V7]]) : (tensor<8xf32>, tensor<8xf32>) -> ()
func.func public @main(%x: tensor<8x3xf32>, %a: tensor<3x3xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x3xf32>) -> tensor<8x3x3xf32>
  %c = stablehlo.cholesky %xs, lower = true : tensor<8x3x3xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<8x3x3xf32>, tensor<f32>) -> tensor<8xf32>
  %f = stablehlo.reshape %xs : (tensor<8x3x3xf32>) -> tensor<8x9xf32>
  %g = stablehlo.slice %f [0:8, 0:3] : (tensor<8x9xf32>) -> tensor<8x3xf32>
  %w = stablehlo.broadcast_in_dim %x, dims = [2, 1] : (tensor<8x3xf32>) -> tensor<2x3x8xf32>
  %m = stablehlo.broadcast_in_dim %a, dims = [1, 2] : (tensor<3x3xf32>) -> tensor<2x3x3xf32>
  %t = "stablehlo.triangular_solve"(%m, %w) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %r = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %s, %r : tensor<8xf32>, tensor<8xf32>
}
