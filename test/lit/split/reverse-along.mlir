// Reversed along the dimension that is split: the last window first.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<40xf32>, %[[A1:[a-z0-9]+]]: tensor<40xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<10xf32>, %[[A5:[a-z0-9]+]]: tensor<40xf32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.exponential"(%[[A4]]) : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.reverse"(%[[V3]]) <{dimensions = array<i64: 0>}> : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<30> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.subtract"(%[[V5]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%[[A5]], %[[V6]]) <{slice_sizes = array<i64: 10>}> : (tensor<40xf32>, tensor<i64>) -> tensor<10xf32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.multiply"(%[[V4]], %[[V8]]) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.reduce"(%[[V9]], %[[V11]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<f32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.maximum"(%[[A7]], %[[A8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V13]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.maximum"(%[[A6]], %[[V12]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V14]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 40 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<40xf32>", slice = 10 : i64} : (tensor<40xf32>, tensor<40xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V2]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<40xf32>, %y: tensor<40xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<40xf32>
  %r = stablehlo.reverse %e, dims = [0] : tensor<40xf32>
  %m = stablehlo.multiply %r, %y : tensor<40xf32>
  %s = stablehlo.reduce(%m init: %none) applies stablehlo.maximum across dimensions = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
