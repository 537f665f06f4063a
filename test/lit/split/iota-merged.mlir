// iota along a dimension that the factor is merged into: in units of 6.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<8xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<2xf32>, %[[A5:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.multiply"(%[[V1]], %[[V2]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.reshape"(%[[V3]]) : (tensor<2x6xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xi32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<6> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.multiply"(%[[A2]], %[[V6]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.convert"(%[[V7]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V8]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.add"(%[[V5]], %[[V9]]) : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.convert"(%[[V10]]) : (tensor<12xi32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.multiply"(%[[V4]], %[[V11]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.reshape"(%[[V12]]) : (tensor<12xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.reduce"(%[[V13]], %[[V14]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[A7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V16]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: "weir.yield"(%[[V15]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<8x6xf32>", slice = 2 : i64} : (tensor<8xf32>, tensor<6xf32>) -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8xf32>) -> ()
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xf32>
  %f = stablehlo.reshape %k : (tensor<8x6xf32>) -> tensor<48xf32>
  %i = stablehlo.iota dim = 0 : tensor<48xf32>
  %e = stablehlo.multiply %f, %i : tensor<48xf32>
  %g = stablehlo.reshape %e : (tensor<48xf32>) -> tensor<8x6xf32>
  %s = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
