// Along the dimension that is split: the parts' windows, the second shifted, and one of them chosen.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<40xf32>, %[[A1:[a-z0-9]+]]: tensor<3xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "weir.loop"(%[[A1]], %[[A0]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<3xf32>, %[[A5:[a-z0-9]+]]: tensor<40xf32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A2]]) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.add"(%[[V4]], %[[V3]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2> : tensor<11xi64>}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<11xi64>}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.maximum"(%[[V5]], %[[V7]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.minimum"(%[[V8]], %[[V6]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.gather"(%[[A4]], %[[V9]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<3xf32>, tensor<11xi64>) -> tensor<11xf32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<-3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.add"(%[[A2]], %[[V11]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V12]]) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.add"(%[[V14]], %[[V13]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<39> : tensor<11xi64>}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<11xi64>}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.maximum"(%[[V15]], %[[V17]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.minimum"(%[[V18]], %[[V16]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.gather"(%[[A5]], %[[V19]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<40xf32>, tensor<11xi64>) -> tensor<11xf32>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.exponential"(%[[V20]]) : (tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.subtract"(%[[V22]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V25:[a-z0-9]+]] = "stablehlo.maximum"(%[[V23]], %[[V24]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<11> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.minimum"(%[[V25]], %[[V26]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V28:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.subtract"(%[[V28]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.maximum"(%[[V29]], %[[V30]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<11> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V33:[a-z0-9]+]] = "stablehlo.minimum"(%[[V31]], %[[V32]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V34:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<11xi32>
// CHECK-NEXT: %[[V35:[a-z0-9]+]] = "stablehlo.convert"(%[[V27]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V36:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V35]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<11xi32>
// CHECK-NEXT: %[[V37:[a-z0-9]+]] = "stablehlo.compare"(%[[V34]], %[[V36]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
// CHECK-NEXT: %[[V38:[a-z0-9]+]] = "stablehlo.convert"(%[[V33]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V39:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V38]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<11xi32>
// CHECK-NEXT: %[[V40:[a-z0-9]+]] = "stablehlo.compare"(%[[V34]], %[[V39]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
// CHECK-NEXT: %[[V41:[a-z0-9]+]] = "stablehlo.and"(%[[V37]], %[[V40]]) : (tensor<11xi1>, tensor<11xi1>) -> tensor<11xi1>
// CHECK-NEXT: %[[V42:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V41]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<11xi1>) -> tensor<11xi1>
// CHECK-NEXT: %[[V43:[a-z0-9]+]] = "stablehlo.select"(%[[V42]], %[[V10]], %[[V21]]) : (tensor<11xi1>, tensor<11xf32>, tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V44:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V45:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<11xf32>}> : () -> tensor<11xf32>
// CHECK-NEXT: %[[V46:[a-z0-9]+]] = "stablehlo.subtract"(%[[A3]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V47:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<11xi32>
// CHECK-NEXT: %[[V48:[a-z0-9]+]] = "stablehlo.convert"(%[[V46]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V49:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V48]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<11xi32>
// CHECK-NEXT: %[[V50:[a-z0-9]+]] = "stablehlo.compare"(%[[V47]], %[[V49]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
// CHECK-NEXT: %[[V51:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V50]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<11xi1>) -> tensor<11xi1>
// CHECK-NEXT: %[[V52:[a-z0-9]+]] = "stablehlo.select"(%[[V51]], %[[V43]], %[[V45]]) : (tensor<11xi1>, tensor<11xf32>, tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V53:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V54:[a-z0-9]+]] = "stablehlo.reduce"(%[[V52]], %[[V53]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<f32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V55:[a-z0-9]+]] = "stablehlo.maximum"(%[[A7]], %[[A8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V55]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<11xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V56:[a-z0-9]+]] = "stablehlo.maximum"(%[[A6]], %[[V54]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V56]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 43 : i64, in_dims = array<i64: -1, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "concatenate tensor<43xf32>", slice = 11 : i64} : (tensor<3xf32>, tensor<40xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V2]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<40xf32>, %y: tensor<3xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<40xf32>
  %c = stablehlo.concatenate %y, %e, dim = 0 : (tensor<3xf32>, tensor<40xf32>) -> tensor<43xf32>
  %s = stablehlo.reduce(%c init: %none) applies stablehlo.maximum across dimensions = [0] : (tensor<43xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
