// The batch of the indices: the operand is read whole.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<4x6xf32>, %[[A1:[a-z0-9]+]]: tensor<8x1xi32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<4x6xf32>, %[[A5:[a-z0-9]+]]: tensor<2x1xi32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.gather"(%[[A4]], %[[A5]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<2x1xi32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.exponential"(%[[V1]]) : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.reduce"(%[[V2]], %[[V3]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[A7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V5]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: "weir.yield"(%[[V4]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: -1, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "gather tensor<8x6xf32>", slice = 2 : i64} : (tensor<4x6xf32>, tensor<8x1xi32>) -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8xf32>) -> ()
func.func public @main(%t: tensor<4x6xf32>, %i: tensor<8x1xi32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %g = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<4x6xf32>, tensor<8x1xi32>) -> tensor<8x6xf32>
  %e = stablehlo.exponential %g : tensor<8x6xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
