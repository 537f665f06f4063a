// Slices of one factor that are still too large are split along another: a loop in a loop.
// RUN: %weir opt %s --tensor-size-threshold 239 --tensor-split-size 100 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<60xf32>, %[[A1:[a-z0-9]+]]: tensor<60xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<1xf32>, %[[A5:[a-z0-9]+]]: tensor<60xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V1]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "weir.loop"(%[[A4]], %[[A5]], %[[V2]]) ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<i64>, %[[A7:[a-z0-9]+]]: tensor<i64>, %[[A8:[a-z0-9]+]]: tensor<1xf32>, %[[A9:[a-z0-9]+]]: tensor<20xf32>, %[[A10:[a-z0-9]+]]: tensor<1xf32>):
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A8]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x20xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A9]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<20xf32>) -> tensor<1x20xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.multiply"(%[[V4]], %[[V5]]) : (tensor<1x20xf32>, tensor<1x20xf32>) -> tensor<1x20xf32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.exponential"(%[[V6]]) : (tensor<1x20xf32>) -> tensor<1x20xf32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.reduce"(%[[V7]], %[[V9]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A11:[a-z0-9]+]]: tensor<f32>, %[[A12:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.add"(%[[A11]], %[[A12]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V11]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<1x20xf32>, tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[A10]], %[[V10]]) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: "weir.yield"(%[[V12]]) : (tensor<1xf32>) -> ()
// CHECK-NEXT: }) {extent = 60 : i64, in_dims = array<i64: -1, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<1x60xf32>", slice = 20 : i64} : (tensor<1xf32>, tensor<60xf32>, tensor<1xf32>) -> tensor<1xf32>
// CHECK-NEXT: "weir.yield"(%[[V3]]) : (tensor<1xf32>) -> ()
// CHECK-NEXT: }) {extent = 60 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<60x60xf32>", slice = 1 : i64} : (tensor<60xf32>, tensor<60xf32>) -> tensor<60xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<60xf32>) -> ()
func.func public @main(%x: tensor<60xf32>, %y: tensor<60xf32>) -> tensor<60xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<60xf32>) -> tensor<60x60xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<60xf32>) -> tensor<60x60xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<60x60xf32>
  %e = stablehlo.exponential %k : tensor<60x60xf32>
  %a = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<60x60xf32>, tensor<f32>) -> tensor<60xf32>
  return %a : tensor<60xf32>
}
