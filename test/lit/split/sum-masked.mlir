// 7 rows in slices of 2: the last slice starts at row 5, whose product is masked by 0.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<7xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<2xf32>, %[[A5:[a-z0-9]+]]: tensor<6xf32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A4]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.multiply"(%[[V3]], %[[V4]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<2x6xf32>}> : () -> tensor<2x6xf32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.subtract"(%[[A3]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xi32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.convert"(%[[V8]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V10]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.compare"(%[[V9]], %[[V11]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V12]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xi1>) -> tensor<2x6xi1>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.select"(%[[V13]], %[[V5]], %[[V7]]) : (tensor<2x6xi1>, tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.reduce"(%[[V14]], %[[V15]]) <{dimensions = array<i64: 0, 1>}> ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<f32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.add"(%[[A7]], %[[A8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V17]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[V16]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V18]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 7 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "broadcast_in_dim tensor<7x6xf32>", slice = 2 : i64} : (tensor<7xf32>, tensor<6xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V2]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<7xf32>, %y: tensor<6xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<7xf32>) -> tensor<7x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<7x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<7x6xf32>
  %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<7x6xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
