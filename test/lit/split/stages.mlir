// The same with one loop a statistic.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --skip stream --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[V2]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<12xf32>, %[[A4:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.add"(%[[A3]], %[[A3]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.reduce"(%[[V4]], %[[V6]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A5:[a-z0-9]+]]: tensor<f32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.maximum"(%[[A5]], %[[A6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V8]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.maximum"(%[[A4]], %[[V7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V9]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "add tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V1]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[V3]], %[[V10]]) ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<i64>, %[[A8:[a-z0-9]+]]: tensor<i64>, %[[A9:[a-z0-9]+]]: tensor<12xf32>, %[[A10:[a-z0-9]+]]: tensor<f32>, %[[A11:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[A9]], %[[A9]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A10]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.subtract"(%[[V12]], %[[V13]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.exponential"(%[[V14]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.reduce"(%[[V15]], %[[V17]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A12:[a-z0-9]+]]: tensor<f32>, %[[A13:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.add"(%[[A12]], %[[A13]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V19]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.add"(%[[A11]], %[[V18]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V20]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "add tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V11]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<48xf32>) -> tensor<f32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %xx = stablehlo.add %x, %x : tensor<48xf32>
  %m = stablehlo.reduce(%xx init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<48xf32>
  %d = stablehlo.subtract %xx, %ms : tensor<48xf32>
  %e = stablehlo.exponential %d : tensor<48xf32>
  %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
