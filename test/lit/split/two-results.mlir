// Two reductions of one large value, along and across the factor: one loop.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]]:2 = "weir.loop"(%[[A0]], %[[A1]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<2xf32>, %[[A5:[a-z0-9]+]]: tensor<6xf32>, %[[A6:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.multiply"(%[[V3]], %[[V4]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.exponential"(%[[V5]]) : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.reduce"(%[[V6]], %[[V7]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<f32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.add"(%[[A7]], %[[A8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V9]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.reduce"(%[[V6]], %[[V10]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A9:[a-z0-9]+]]: tensor<f32>, %[[A10:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[A9]], %[[A10]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V12]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<6xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[V11]]) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT: "weir.yield"(%[[V8]], %[[V13]]) : (tensor<2xf32>, tensor<6xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 1, 1>, seed = "broadcast_in_dim tensor<8x6xf32>", slice = 2 : i64} : (tensor<8xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<8xf32>, tensor<6xf32>)
// CHECK-NEXT: "func.return"(%[[V2]]#0, %[[V2]]#1) : (tensor<8xf32>, tensor<6xf32>) -> ()
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>) -> (tensor<8xf32>, tensor<6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xf32>
  %e = stablehlo.exponential %k : tensor<8x6xf32>
  %a = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %b = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
  return %a, %b : tensor<8xf32>, tensor<6xf32>
}
