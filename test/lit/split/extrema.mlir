// maximum and minimum start at the infinities, in one loop.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V1]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]]:2 = "weir.loop"(%[[A0]], %[[V2]], %[[V3]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<12xf32>, %[[A4:[a-z0-9]+]]: tensor<f32>, %[[A5:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.exponential"(%[[A3]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V7]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.maximum"(%[[A6]], %[[A7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V9]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.maximum"(%[[A4]], %[[V8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V12]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A8:[a-z0-9]+]]: tensor<f32>, %[[A9:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.minimum"(%[[A8]], %[[A9]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V14]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.minimum"(%[[A5]], %[[V13]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V10]], %[[V15]]) : (tensor<f32>, tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: -1, -1>, out_units = array<i64: 1, 1>, seed = "exponential tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT: "func.return"(%[[V4]]#0, %[[V4]]#1) : (tensor<f32>, tensor<f32>) -> ()
func.func public @main(%x: tensor<48xf32>) -> (tensor<f32>, tensor<f32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<48xf32>
  %a = stablehlo.reduce(%e init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.reduce(%e init: %high) applies stablehlo.minimum across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
