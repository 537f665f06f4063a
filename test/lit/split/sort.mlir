// Along another dimension.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<2xf32>, %[[A5:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.multiply"(%[[V2]], %[[V3]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.sort"(%[[V4]]) <{dimension = 1 : i64, is_stable = true}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.compare"(%[[A6]], %[[A7]]) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: "stablehlo.return"(%[[V6]]) : (tensor<i1>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.slice"(%[[V5]]) <{limit_indices = array<i64: 2, 5>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}> : (tensor<2x6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: "weir.yield"(%[[V7]]) : (tensor<2x3xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x6xf32>", slice = 2 : i64} : (tensor<8xf32>, tensor<6xf32>) -> tensor<8x3xf32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.reduce"(%[[V1]], %[[V0]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A8:[a-z0-9]+]]: tensor<f32>, %[[A9:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.add"(%[[A8]], %[[A9]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V9]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<8x3xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V8]]) : (tensor<8xf32>) -> ()
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xf32>
  %o = "stablehlo.sort"(%k) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %c = stablehlo.slice %o [0:8, 2:5] : (tensor<8x6xf32>) -> tensor<8x3xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
