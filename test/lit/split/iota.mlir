// iota along the factor counts from the slice's first index.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      %[[V0:[a-z0-9]+]] = "weir.loop"() ({
// CHECK-NEXT: ^bb0(%[[A0:[a-z0-9]+]]: tensor<i64>, %[[A1:[a-z0-9]+]]: tensor<i64>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2x6xi32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.convert"(%[[A0]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V2]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2x6xi32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.add"(%[[V1]], %[[V3]]) : (tensor<2x6xi32>, tensor<2x6xi32>) -> tensor<2x6xi32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.convert"(%[[V4]]) : (tensor<2x6xi32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x6xf32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.multiply"(%[[V5]], %[[V6]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.reduce"(%[[V7]], %[[V8]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<f32>, %[[A3:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.add"(%[[A2]], %[[A3]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V10]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: "weir.yield"(%[[V9]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: }) {extent = 8 : i64, in_dims = array<i64>, in_units = array<i64>, out_dims = array<i64: 0>, out_units = array<i64: 1>, seed = "iota tensor<8x6xf32>", slice = 2 : i64} : () -> tensor<8xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<8xf32>) -> ()
func.func public @main() -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.iota dim = 0 : tensor<8x6xf32>
  %j = stablehlo.iota dim = 1 : tensor<8x6xf32>
  %k = stablehlo.multiply %i, %j : tensor<8x6xf32>
  %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
