// x[1:] - x[:-1]: near windows are made as one, of which both are parts; the loop goes over what the difference has.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<40xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<40xf32>, %[[A4:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%[[A3]], %[[A1]]) <{slice_sizes = array<i64: 11>}> : (tensor<40xf32>, tensor<i64>) -> tensor<11xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.exponential"(%[[V4]]) : (tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.slice"(%[[V5]]) <{limit_indices = array<i64: 11>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.slice"(%[[V6]]) <{limit_indices = array<i64: 11>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<11xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.slice"(%[[V5]]) <{limit_indices = array<i64: 10>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<11xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.slice"(%[[V8]]) <{limit_indices = array<i64: 10>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.subtract"(%[[V7]], %[[V9]]) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<10xf32>}> : () -> tensor<10xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.subtract"(%[[A2]], %[[A1]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xi32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.convert"(%[[V13]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V15]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<10xi32>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.compare"(%[[V14]], %[[V16]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V17]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<10xi1>) -> tensor<10xi1>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.select"(%[[V18]], %[[V10]], %[[V12]]) : (tensor<10xi1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.reduce"(%[[V19]], %[[V20]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A5:[a-z0-9]+]]: tensor<f32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.maximum"(%[[A5]], %[[A6]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V22]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.maximum"(%[[A4]], %[[V21]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V23]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 39 : i64, in_dims = array<i64: -1>, in_units = array<i64: 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<40xf32>", slice = 10 : i64} : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V2]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<40xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<40xf32>
  %a = stablehlo.slice %e [1:40] : (tensor<40xf32>) -> tensor<39xf32>
  %b = stablehlo.slice %e [0:39] : (tensor<40xf32>) -> tensor<39xf32>
  %d = stablehlo.subtract %a, %b : tensor<39xf32>
  %s = stablehlo.reduce(%d init: %none) applies stablehlo.maximum across dimensions = [0] : (tensor<39xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
