// Sums of bf16 are carried in f32.
// RUN: %weir opt %s --tensor-size-threshold 90 --tensor-split-size 24 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xbf16>, %[[A1:[a-z0-9]+]]: tensor<6xbf16>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.convert"(%[[V0]]) : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V1]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[V2]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<2xbf16>, %[[A5:[a-z0-9]+]]: tensor<6xbf16>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xbf16>) -> tensor<2x6xbf16>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xbf16>) -> tensor<2x6xbf16>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.multiply"(%[[V4]], %[[V5]]) : (tensor<2x6xbf16>, tensor<2x6xbf16>) -> tensor<2x6xbf16>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<bf16>}> : () -> tensor<bf16>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.convert"(%[[V6]]) : (tensor<2x6xbf16>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.reduce"(%[[V8]], %[[V9]]) <{dimensions = array<i64: 0, 1>}> ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<f32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.add"(%[[A7]], %[[A8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V11]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[V10]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V12]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x6xbf16>", slice = 2 : i64} : (tensor<8xbf16>, tensor<6xbf16>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.convert"(%[[V3]]) : (tensor<f32>) -> tensor<bf16>
// CHECK-NEXT: "func.return"(%[[V13]]) : (tensor<bf16>) -> ()
func.func public @main(%x: tensor<8xbf16>, %y: tensor<6xbf16>) -> tensor<bf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xbf16>) -> tensor<8x6xbf16>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xbf16>) -> tensor<8x6xbf16>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xbf16>
  %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xbf16>, tensor<bf16>) -> tensor<bf16>
  return %s : tensor<bf16>
}
