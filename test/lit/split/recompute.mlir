// A statistic that is no stream (a variance): the second loop makes its slices of exp(x) again.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<12xf32>, %[[A4:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.exponential"(%[[A3]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.reduce"(%[[V3]], %[[V5]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A5:[a-z0-9]+]]: tensor<f32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.add"(%[[A5]], %[[A6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V7]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.add"(%[[A4]], %[[V6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V8]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[V2]], %[[V9]]) ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<i64>, %[[A8:[a-z0-9]+]]: tensor<i64>, %[[A9:[a-z0-9]+]]: tensor<12xf32>, %[[A10:[a-z0-9]+]]: tensor<f32>, %[[A11:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.exponential"(%[[A9]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A10]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.subtract"(%[[V11]], %[[V12]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.multiply"(%[[V13]], %[[V13]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.reduce"(%[[V14]], %[[V16]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A12:[a-z0-9]+]]: tensor<f32>, %[[A13:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.add"(%[[A12]], %[[A13]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V18]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.add"(%[[A11]], %[[V17]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V19]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V10]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<48xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<48xf32>
  %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<48xf32>
  %d = stablehlo.subtract %e, %ss : tensor<48xf32>
  %q = stablehlo.multiply %d, %d : tensor<48xf32>
  %t = stablehlo.reduce(%q init: %none) applies stablehlo.add across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  return %t : tensor<f32>
}
