// Padding along the dimension that is split: chosen where a window is beyond the ends. Three are cut
// off in front, so the loop begins at the fourth.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<40xf32>, %[[A1:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<40xf32>, %[[A5:[a-z0-9]+]]: tensor<f32>, %[[A6:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.add"(%[[A2]], %[[V3]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V4]]) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.add"(%[[V6]], %[[V5]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<39> : tensor<11xi64>}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<11xi64>}> : () -> tensor<11xi64>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.maximum"(%[[V7]], %[[V9]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.minimum"(%[[V10]], %[[V8]]) : (tensor<11xi64>, tensor<11xi64>) -> tensor<11xi64>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.gather"(%[[A4]], %[[V11]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<40xf32>, tensor<11xi64>) -> tensor<11xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.exponential"(%[[V12]]) : (tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.pad"(%[[V13]], %[[A5]]) <{edge_padding_high = array<i64: 0>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<11xf32>, tensor<f32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A5]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.add"(%[[A2]], %[[V16]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.subtract"(%[[V18]], %[[V17]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.maximum"(%[[V19]], %[[V20]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<11> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.minimum"(%[[V21]], %[[V22]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<40> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V25:[a-z0-9]+]] = "stablehlo.subtract"(%[[V24]], %[[V17]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.maximum"(%[[V25]], %[[V26]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V28:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<11> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.minimum"(%[[V27]], %[[V28]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<11xi32>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.convert"(%[[V23]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V31]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<11xi32>
// CHECK-NEXT: %[[V33:[a-z0-9]+]] = "stablehlo.compare"(%[[V30]], %[[V32]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
// CHECK-NEXT: %[[V34:[a-z0-9]+]] = "stablehlo.convert"(%[[V29]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V35:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V34]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<11xi32>
// CHECK-NEXT: %[[V36:[a-z0-9]+]] = "stablehlo.compare"(%[[V30]], %[[V35]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
// CHECK-NEXT: %[[V37:[a-z0-9]+]] = "stablehlo.and"(%[[V33]], %[[V36]]) : (tensor<11xi1>, tensor<11xi1>) -> tensor<11xi1>
// CHECK-NEXT: %[[V38:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V37]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<11xi1>) -> tensor<11xi1>
// CHECK-NEXT: %[[V39:[a-z0-9]+]] = "stablehlo.select"(%[[V38]], %[[V14]], %[[V15]]) : (tensor<11xi1>, tensor<11xf32>, tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V40:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V41:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<11xf32>}> : () -> tensor<11xf32>
// CHECK-NEXT: %[[V42:[a-z0-9]+]] = "stablehlo.subtract"(%[[A3]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V43:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<11xi32>
// CHECK-NEXT: %[[V44:[a-z0-9]+]] = "stablehlo.convert"(%[[V42]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V45:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V44]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<11xi32>
// CHECK-NEXT: %[[V46:[a-z0-9]+]] = "stablehlo.compare"(%[[V43]], %[[V45]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
// CHECK-NEXT: %[[V47:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V46]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<11xi1>) -> tensor<11xi1>
// CHECK-NEXT: %[[V48:[a-z0-9]+]] = "stablehlo.select"(%[[V47]], %[[V39]], %[[V41]]) : (tensor<11xi1>, tensor<11xf32>, tensor<11xf32>) -> tensor<11xf32>
// CHECK-NEXT: %[[V49:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V50:[a-z0-9]+]] = "stablehlo.reduce"(%[[V48]], %[[V49]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A7:[a-z0-9]+]]: tensor<f32>, %[[A8:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V51:[a-z0-9]+]] = "stablehlo.maximum"(%[[A7]], %[[A8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V51]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<11xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V52:[a-z0-9]+]] = "stablehlo.maximum"(%[[A6]], %[[V50]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V52]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 42 : i64, in_dims = array<i64: -1, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "pad tensor<42xf32>", slice = 11 : i64} : (tensor<40xf32>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V2]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<40xf32>, %zero: tensor<f32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<40xf32>
  %p = stablehlo.pad %e, %zero, low = [-3], high = [5], interior = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<42xf32>
  %s = stablehlo.reduce(%p init: %none) applies stablehlo.maximum across dimensions = [0] : (tensor<42xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
