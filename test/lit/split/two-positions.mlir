// K + K^T: one value at two positions of the factor, made twice from its vectors.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<7xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A0]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<1xf32>, %[[A4:[a-z0-9]+]]: tensor<7xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A3]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x7xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.exponential"(%[[V1]]) : (tensor<1x7xf32>) -> tensor<1x7xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<7xf32>) -> tensor<7x1xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.exponential"(%[[V3]]) : (tensor<7x1xf32>) -> tensor<7x1xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.transpose"(%[[V4]]) <{permutation = array<i64: 1, 0>}> : (tensor<7x1xf32>) -> tensor<1x7xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.add"(%[[V2]], %[[V5]]) : (tensor<1x7xf32>, tensor<1x7xf32>) -> tensor<1x7xf32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.reduce"(%[[V6]], %[[V7]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A5:[a-z0-9]+]]: tensor<f32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.add"(%[[A5]], %[[A6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V9]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<1x7xf32>, tensor<f32>) -> tensor<1xf32>
// CHECK-NEXT: "weir.yield"(%[[V8]]) : (tensor<1xf32>) -> ()
// CHECK-NEXT: }) {extent = 7 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<7x7xf32>", slice = 1 : i64} : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<7xf32>) -> ()
func.func public @main(%x: tensor<7xf32>) -> tensor<7xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<7xf32>) -> tensor<7x7xf32>
  %k = stablehlo.exponential %xs : tensor<7x7xf32>
  %t = stablehlo.transpose %k, dims = [1, 0] : (tensor<7x7xf32>) -> tensor<7x7xf32>
  %b = stablehlo.add %k, %t : tensor<7x7xf32>
  %s = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<7x7xf32>, tensor<f32>) -> tensor<7xf32>
  return %s : tensor<7xf32>
}
