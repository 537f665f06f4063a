// Weights divided by their sum: the carry is multiplied by old / new sum; sums near 0 or infinity count as others until the end.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>, %[[A1:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]]:2 = "weir.loop"(%[[A0]], %[[A1]], %[[V1]], %[[V2]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<12xf32>, %[[A5:[a-z0-9]+]]: tensor<12xf32>, %[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.abs"(%[[A4]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.reduce"(%[[V4]], %[[V6]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A8:[a-z0-9]+]]: tensor<f32>, %[[A9:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.add"(%[[A8]], %[[A9]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V8]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[V7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.abs"(%[[V9]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<4.656613e-10> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.maximum"(%[[V11]], %[[V12]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2.14748365e+09> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.minimum"(%[[V13]], %[[V14]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.negate"(%[[V15]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.compare"(%[[V9]], %[[V10]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.select"(%[[V17]], %[[V16]], %[[V15]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V18]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.divide"(%[[V4]], %[[V19]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.abs"(%[[V9]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<4.656613e-10> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.maximum"(%[[V22]], %[[V23]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V25:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2.14748365e+09> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.minimum"(%[[V24]], %[[V25]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.negate"(%[[V26]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V28:[a-z0-9]+]] = "stablehlo.compare"(%[[V9]], %[[V21]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.select"(%[[V28]], %[[V27]], %[[V26]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.abs"(%[[A6]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<4.656613e-10> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V33:[a-z0-9]+]] = "stablehlo.maximum"(%[[V31]], %[[V32]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V34:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2.14748365e+09> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V35:[a-z0-9]+]] = "stablehlo.minimum"(%[[V33]], %[[V34]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V36:[a-z0-9]+]] = "stablehlo.negate"(%[[V35]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V37:[a-z0-9]+]] = "stablehlo.compare"(%[[A6]], %[[V30]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V38:[a-z0-9]+]] = "stablehlo.select"(%[[V37]], %[[V36]], %[[V35]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V39:[a-z0-9]+]] = "stablehlo.divide"(%[[V38]], %[[V29]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V40:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V39]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V41:[a-z0-9]+]] = "stablehlo.multiply"(%[[A7]], %[[V40]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V42:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V43:[a-z0-9]+]] = "stablehlo.compare"(%[[A7]], %[[V42]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V44:[a-z0-9]+]] = "stablehlo.select"(%[[V43]], %[[A7]], %[[V41]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V45:[a-z0-9]+]] = "stablehlo.dot_general"(%[[V20]], %[[A5]]) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<12xf32>, tensor<12xf32>) -> tensor<f32>
// CHECK-NEXT: %[[V46:[a-z0-9]+]] = "stablehlo.add"(%[[V44]], %[[V45]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V9]], %[[V46]]) : (tensor<f32>, tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1, -1>, out_units = array<i64: 1, 1>, seed = "abs tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<48xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT: %[[V47:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V48:[a-z0-9]+]] = "stablehlo.compare"(%[[V3]]#0, %[[V47]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V49:[a-z0-9]+]] = "stablehlo.abs"(%[[V3]]#0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V50:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<4.656613e-10> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V51:[a-z0-9]+]] = "stablehlo.maximum"(%[[V49]], %[[V50]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V52:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2.14748365e+09> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V53:[a-z0-9]+]] = "stablehlo.minimum"(%[[V51]], %[[V52]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V54:[a-z0-9]+]] = "stablehlo.negate"(%[[V53]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V55:[a-z0-9]+]] = "stablehlo.select"(%[[V48]], %[[V54]], %[[V53]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V56:[a-z0-9]+]] = "stablehlo.compare"(%[[V3]]#0, %[[V55]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V57:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V56]]) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V58:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V59:[a-z0-9]+]] = "stablehlo.compare"(%[[V3]]#0, %[[V58]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V60:[a-z0-9]+]] = "stablehlo.abs"(%[[V3]]#0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V61:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<4.656613e-10> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V62:[a-z0-9]+]] = "stablehlo.maximum"(%[[V60]], %[[V61]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V63:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2.14748365e+09> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V64:[a-z0-9]+]] = "stablehlo.minimum"(%[[V62]], %[[V63]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V65:[a-z0-9]+]] = "stablehlo.negate"(%[[V64]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V66:[a-z0-9]+]] = "stablehlo.select"(%[[V59]], %[[V65]], %[[V64]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V67:[a-z0-9]+]] = "stablehlo.divide"(%[[V66]], %[[V3]]#0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V68:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V67]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V69:[a-z0-9]+]] = "stablehlo.multiply"(%[[V3]]#1, %[[V68]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V70:[a-z0-9]+]] = "stablehlo.select"(%[[V57]], %[[V69]], %[[V3]]#1) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V70]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<48xf32>, %v: tensor<48xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.abs %x : tensor<48xf32>
  %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<48xf32>
  %w = stablehlo.divide %e, %ss : tensor<48xf32>
  %d = stablehlo.dot_general %w, %v, contracting_dims = [0] x [0] : (tensor<48xf32>, tensor<48xf32>) -> tensor<f32>
  return %d : tensor<f32>
}
