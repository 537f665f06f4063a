// A part of the dimension that is split: each trip puts what it has of the part in the carry.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<40xf32>, %[[A1:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[V0]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<10xf32>, %[[A5:[a-z0-9]+]]: tensor<i32>, %[[A6:[a-z0-9]+]]: tensor<3xf32>):
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.exponential"(%[[A4]]) : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.convert"(%[[A5]]) : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.maximum"(%[[V3]], %[[V4]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<37> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.minimum"(%[[V5]], %[[V6]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%[[V2]], %[[V8]]) <{slice_sizes = array<i64: 10>}> : (tensor<10xf32>, tensor<i32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.subtract"(%[[A2]], %[[V7]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.maximum"(%[[V10]], %[[V11]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.minimum"(%[[V12]], %[[V13]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.subtract"(%[[V14]], %[[V10]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%[[A6]], %[[V14]]) <{slice_sizes = array<i64: 3>}> : (tensor<3xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V15]]) <{broadcast_dimensions = array<i64>}> : (tensor<i64>) -> tensor<3xi64>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi64>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.add"(%[[V19]], %[[V18]]) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<9> : tensor<3xi64>}> : () -> tensor<3xi64>
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<3xi64>}> : () -> tensor<3xi64>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.maximum"(%[[V20]], %[[V22]]) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.minimum"(%[[V23]], %[[V21]]) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT: %[[V25:[a-z0-9]+]] = "stablehlo.gather"(%[[V9]], %[[V24]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<10xf32>, tensor<3xi64>) -> tensor<3xf32>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.subtract"(%[[V26]], %[[V15]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V28:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.maximum"(%[[V27]], %[[V28]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.minimum"(%[[V29]], %[[V30]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<10> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V33:[a-z0-9]+]] = "stablehlo.subtract"(%[[V32]], %[[V15]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V34:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V35:[a-z0-9]+]] = "stablehlo.maximum"(%[[V33]], %[[V34]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V36:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V37:[a-z0-9]+]] = "stablehlo.minimum"(%[[V35]], %[[V36]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V38:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi32>
// CHECK-NEXT: %[[V39:[a-z0-9]+]] = "stablehlo.convert"(%[[V31]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V40:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V39]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V41:[a-z0-9]+]] = "stablehlo.compare"(%[[V38]], %[[V40]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
// CHECK-NEXT: %[[V42:[a-z0-9]+]] = "stablehlo.convert"(%[[V37]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V43:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V42]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V44:[a-z0-9]+]] = "stablehlo.compare"(%[[V38]], %[[V43]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
// CHECK-NEXT: %[[V45:[a-z0-9]+]] = "stablehlo.and"(%[[V41]], %[[V44]]) : (tensor<3xi1>, tensor<3xi1>) -> tensor<3xi1>
// CHECK-NEXT: %[[V46:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V45]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xi1>) -> tensor<3xi1>
// CHECK-NEXT: %[[V47:[a-z0-9]+]] = "stablehlo.select"(%[[V46]], %[[V25]], %[[V17]]) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V48:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V49:[a-z0-9]+]] = "stablehlo.dynamic_update_slice"(%[[A6]], %[[V47]], %[[V14]]) : (tensor<3xf32>, tensor<3xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-NEXT: "weir.yield"(%[[V49]]) : (tensor<3xf32>) -> ()
// CHECK-NEXT: }) {extent = 40 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<40xf32>", slice = 10 : i64} : (tensor<40xf32>, tensor<i32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: "func.return"(%[[V1]]) : (tensor<3xf32>) -> ()
func.func public @main(%x: tensor<40xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %e = stablehlo.exponential %x : tensor<40xf32>
  %p = stablehlo.dynamic_slice %e, %i, sizes = [3] : (tensor<40xf32>, tensor<i32>) -> tensor<3xf32>
  return %p : tensor<3xf32>
}
