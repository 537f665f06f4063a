// The batch of the input.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xf32>, %[[A1:[a-z0-9]+]]: tensor<3x2x2xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<1xf32>, %[[A5:[a-z0-9]+]]: tensor<3x2x2xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x6x2xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.exponential"(%[[V1]]) : (tensor<1x6x2xf32>) -> tensor<1x6x2xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.convolution"(%[[V2]], %[[A5]]) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, padding = dense<0> : tensor<1x2xi64>, window_strides = array<i64: 1>}> : (tensor<1x6x2xf32>, tensor<3x2x2xf32>) -> tensor<1x4x2xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.reduce"(%[[V3]], %[[V4]]) <{dimensions = array<i64: 1, 2>}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[A7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V6]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<1x4x2xf32>, tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: "weir.yield"(%[[V5]]) : (tensor<1xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x6x2xf32>", slice = 1 : i64} : (tensor<8xf32>, tensor<3x2x2xf32>) -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8xf32>) -> ()
func.func public @main(%x: tensor<8xf32>, %w: tensor<3x2x2xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6x2xf32>
  %e = stablehlo.exponential %xs : tensor<8x6x2xf32>
  %c = stablehlo.convolution(%e, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x6x2xf32>, tensor<3x2x2xf32>) -> tensor<8x4x2xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
