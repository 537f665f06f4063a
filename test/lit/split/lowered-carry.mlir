// Lowered: a partial sum is carried.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V3:[a-z0-9]+]]:2 = "stablehlo.while"(%[[V2]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<4> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.compare"(%[[A1]], %[[V4]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: "stablehlo.return"(%[[V5]]) : (tensor<i1>) -> ()
// CHECK-NEXT: }, {
// CHECK-NEXT: ^bb0(%[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<12> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.multiply"(%[[A3]], %[[V6]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%[[A0]], %[[V7]]) <{slice_sizes = array<i64: 12>}> : (tensor<48xf32>, tensor<i64>) -> tensor<12xf32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.exponential"(%[[V8]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.reduce"(%[[V9]], %[[V10]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A5:[a-z0-9]+]]: tensor<f32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[A5]], %[[A6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V12]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.add"(%[[A4]], %[[V11]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.add"(%[[A3]], %[[V14]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: "stablehlo.return"(%[[V15]], %[[V13]]) : (tensor<i64>, tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<i64>, tensor<f32>) -> (tensor<i64>, tensor<f32>)
// CHECK-NEXT: "func.return"(%[[V3]]#1) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<48xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<48xf32>
  %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
