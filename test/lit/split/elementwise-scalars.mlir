// select with a scalar predicate, clamp with scalar bounds: the scalars come whole.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>, %[[A2:[a-z0-9]+]]: tensor<i1>, %[[A3:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A3]], %[[A2]], %[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A4:[a-z0-9]+]]: tensor<i64>, %[[A5:[a-z0-9]+]]: tensor<i64>, %[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<i1>, %[[A8:[a-z0-9]+]]: tensor<2xf32>, %[[A9:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A8]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A9]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.multiply"(%[[V1]], %[[V2]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.select"(%[[A7]], %[[V1]], %[[V3]]) : (tensor<i1>, tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.clamp"(%[[A6]], %[[V4]], %[[A6]]) : (tensor<f32>, tensor<2x6xf32>, tensor<f32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V6]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A10:[a-z0-9]+]]: tensor<f32>, %[[A11:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.add"(%[[A10]], %[[A11]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V8]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: "weir.yield"(%[[V7]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: -1, -1, 0, -1>, in_units = array<i64: 1, 1, 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x6xf32>", slice = 2 : i64} : (tensor<f32>, tensor<i1>, tensor<8xf32>, tensor<6xf32>) -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8xf32>) -> ()
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>, %p: tensor<i1>, %low: tensor<f32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xf32>
  %e = stablehlo.select %p, %xs, %k : tensor<i1>, tensor<8x6xf32>
  %c = stablehlo.clamp %low, %e, %low : (tensor<f32>, tensor<8x6xf32>, tensor<f32>) -> tensor<8x6xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
