// Lowered: counter first, the result updated in place, inputs captured; the last slice starts at 5.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<7xf32>, %[[A1:[a-z0-9]+]]: tensor<6xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V1]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]]:2 = "stablehlo.while"(%[[V0]], %[[V2]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<7xf32>):
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.compare"(%[[A2]], %[[V4]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: "stablehlo.return"(%[[V5]]) : (tensor<i1>) -> ()
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[A4:[a-z0-9]+]]: tensor<i64>, %[[A5:[a-z0-9]+]]: tensor<7xf32>):
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.multiply"(%[[A4]], %[[V6]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<5> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.minimum"(%[[V7]], %[[V8]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%[[A0]], %[[V9]]) <{slice_sizes = array<i64: 2>}> : (tensor<7xf32>, tensor<i64>) -> tensor<2xf32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V10]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A1]]) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.multiply"(%[[V11]], %[[V12]]) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.exponential"(%[[V13]]) : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.reduce"(%[[V14]], %[[V15]]) <{dimensions = array<i64: 1>}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[A7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V17]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.add"(%[[A4]], %[[V18]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.dynamic_update_slice"(%[[A5]], %[[V16]], %[[V9]]) : (tensor<7xf32>, tensor<2xf32>, tensor<i64>) -> tensor<7xf32>
// CHECK-NEXT: "stablehlo.return"(%[[V19]], %[[V20]]) : (tensor<i64>, tensor<7xf32>) -> ()
// CHECK-NEXT: }) : (tensor<i64>, tensor<7xf32>) -> (tensor<i64>, tensor<7xf32>)
// CHECK-NEXT: "func.return"(%[[V3]]#1) : (tensor<7xf32>) -> ()
func.func public @main(%x: tensor<7xf32>, %y: tensor<6xf32>) -> tensor<7xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<7xf32>) -> tensor<7x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<7x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<7x6xf32>
  %e = stablehlo.exponential %k : tensor<7x6xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<7x6xf32>, tensor<f32>) -> tensor<7xf32>
  return %s : tensor<7xf32>
}
