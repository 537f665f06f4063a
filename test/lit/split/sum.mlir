// A sum over the factor and all else: the init is the carry's, slices start at -0.0, which adds nothing to any number, not to -0.0 either.
// RUN: %weir opt %s --tensor-size-threshold 47 --tensor-split-size 48 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>, %[[A2:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A2]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[A2]], %[[V0]]) ({
// CHECK-NEXT: ^bb0(%[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<i64>, %[[A5:[a-z0-9]+]]: tensor<2xf32>, %[[A6:[a-z0-9]+]]: tensor<6xf32>, %[[A7:[a-z0-9]+]]: tensor<f32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A6]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.multiply"(%[[V2]], %[[V3]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<-0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.reduce"(%[[V4]], %[[V5]]) <{dimensions = array<i64: 0, 1>}> ({
// CHECK-NEXT: ^bb0(%[[A9:[a-z0-9]+]]: tensor<f32>, %[[A10:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.add"(%[[A9]], %[[A10]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V7]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.add"(%[[A8]], %[[V6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V8]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, -1, -1>, in_units = array<i64: 1, 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x6xf32>", slice = 2 : i64} : (tensor<8xf32>, tensor<6xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V1]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>, %init: tensor<f32>) -> tensor<f32> {
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xf32>
  %s = stablehlo.reduce(%k init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
