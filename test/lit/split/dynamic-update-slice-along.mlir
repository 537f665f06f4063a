// An update of a part of the dimension that is split: its window over the operand's, where there is one.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<40xf32>, %[[A1:[a-z0-9]+]]: tensor<3xf32>, %[[A2:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[A2]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<i64>, %[[A5:[a-z0-9]+]]: tensor<10xf32>, %[[A6:[a-z0-9]+]]: tensor<3xf32>, %[[A7:[a-z0-9]+]]: tensor<i32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.exponential"(%[[A5]]) : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.convert"(%[[A7]]) : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.maximum"(%[[V4]], %[[V5]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<37> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.minimum"(%[[V6]], %[[V7]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.subtract"(%[[A3]], %[[V8]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V9]]) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<10xi64>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xi64>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[V11]], %[[V10]]) : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2> : tensor<10xi64>}> : () -> tensor<10xi64>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<10xi64>}> : () -> tensor<10xi64>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.maximum"(%[[V12]], %[[V14]]) : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.minimum"(%[[V15]], %[[V13]]) : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.gather"(%[[A6]], %[[V16]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<3xf32>, tensor<10xi64>) -> tensor<10xf32>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%[[V3]], %[[V18]]) <{slice_sizes = array<i64: 10>}> : (tensor<10xf32>, tensor<i32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.subtract"(%[[V20]], %[[V9]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.maximum"(%[[V21]], %[[V22]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<10> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V25:[a-z0-9]+]] = "stablehlo.minimum"(%[[V23]], %[[V24]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.subtract"(%[[V26]], %[[V9]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V28:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.maximum"(%[[V27]], %[[V28]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<10> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.minimum"(%[[V29]], %[[V30]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xi32>
// CHECK-NEXT: %[[V33:[a-z0-9]+]] = "stablehlo.convert"(%[[V25]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V34:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V33]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<10xi32>
// CHECK-NEXT: %[[V35:[a-z0-9]+]] = "stablehlo.compare"(%[[V32]], %[[V34]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
// CHECK-NEXT: %[[V36:[a-z0-9]+]] = "stablehlo.convert"(%[[V31]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V37:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V36]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<10xi32>
// CHECK-NEXT: %[[V38:[a-z0-9]+]] = "stablehlo.compare"(%[[V32]], %[[V37]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
// CHECK-NEXT: %[[V39:[a-z0-9]+]] = "stablehlo.and"(%[[V35]], %[[V38]]) : (tensor<10xi1>, tensor<10xi1>) -> tensor<10xi1>
// CHECK-NEXT: %[[V40:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V39]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<10xi1>) -> tensor<10xi1>
// CHECK-NEXT: %[[V41:[a-z0-9]+]] = "stablehlo.select"(%[[V40]], %[[V17]], %[[V19]]) : (tensor<10xi1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V42:[a-z0-9]+]] = "stablehlo.dynamic_update_slice"(%[[V3]], %[[V41]], %[[V18]]) : (tensor<10xf32>, tensor<10xf32>, tensor<i32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V43:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V44:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V45:[a-z0-9]+]] = "stablehlo.reduce"(%[[V42]], %[[V44]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A9:[a-z0-9]+]]: tensor<f32>, %[[A10:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V46:[a-z0-9]+]] = "stablehlo.maximum"(%[[A9]], %[[A10]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V46]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V47:[a-z0-9]+]] = "stablehlo.maximum"(%[[A8]], %[[V45]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V47]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 40 : i64, in_dims = array<i64: 0, -1, -1>, in_units = array<i64: 1, 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<40xf32>", slice = 10 : i64} : (tensor<40xf32>, tensor<3xf32>, tensor<i32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V2]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<40xf32>, %u: tensor<3xf32>, %i: tensor<i32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<40xf32>
  %p = stablehlo.dynamic_update_slice %e, %u, %i : (tensor<40xf32>, tensor<3xf32>, tensor<i32>) -> tensor<40xf32>
  %s = stablehlo.reduce(%p init: %none) applies stablehlo.maximum across dimensions = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
