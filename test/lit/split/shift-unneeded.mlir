// What can be split along another dimension without moving windows is.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8x6xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<2x6xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.exponential"(%[[A3]]) : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.slice"(%[[V1]]) <{limit_indices = array<i64: 2, 6>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<2x6xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.slice"(%[[V1]]) <{limit_indices = array<i64: 2, 5>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x6xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.subtract"(%[[V2]], %[[V3]]) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.reduce"(%[[V4]], %[[V5]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A4:[a-z0-9]+]]: tensor<f32>, %[[A5:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.maximum"(%[[A4]], %[[A5]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V7]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: "weir.yield"(%[[V6]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "exponential tensor<8x6xf32>", slice = 2 : i64} : (tensor<8x6xf32>) -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8xf32>) -> ()
func.func public @main(%x: tensor<8x6xf32>) -> tensor<8xf32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<8x6xf32>
  %a = stablehlo.slice %e [0:8, 1:6] : (tensor<8x6xf32>) -> tensor<8x5xf32>
  %b = stablehlo.slice %e [0:8, 0:5] : (tensor<8x6xf32>) -> tensor<8x5xf32>
  %d = stablehlo.subtract %a, %b : tensor<8x5xf32>
  %s = stablehlo.reduce(%d init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
