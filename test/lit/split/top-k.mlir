// Over the split dimension: what is carried beside the slice, k of both.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<3xf32>}> : () -> tensor<3xf32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<3xi32>}> : () -> tensor<3xi32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]]:2 = "weir.loop"(%[[A0]], %[[V0]], %[[V1]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<12xf32>, %[[A4:[a-z0-9]+]]: tensor<3xf32>, %[[A5:[a-z0-9]+]]: tensor<3xi32>):
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.exponential"(%[[A3]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.compare"(%[[A2]], %[[V4]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i64>, tensor<i64>) -> tensor<i1>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.subtract"(%[[A2]], %[[A1]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.select"(%[[V5]], %[[V7]], %[[V6]]) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.slice"(%[[V3]]) <{limit_indices = array<i64: 3>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<12xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.select"(%[[V5]], %[[V9]], %[[A4]]) : (tensor<i1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.select"(%[[V5]], %[[V11]], %[[A5]]) : (tensor<i1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xi32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.convert"(%[[V8]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V14]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.compare"(%[[V13]], %[[V15]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V16]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xi1>) -> tensor<12xi1>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFFFFFFFF> : tensor<12xf32>}> : () -> tensor<12xf32>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.select"(%[[V17]], %[[V3]], %[[V18]]) : (tensor<12xi1>, tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.concatenate"(%[[V10]], %[[V19]]) <{dimension = 0 : i64}> : (tensor<3xf32>, tensor<12xf32>) -> tensor<15xf32>
// CHECK-NEXT: %[[V21:[a-z0-9]+]]:2 = "chlo.top_k"(%[[V20]]) <{k = 3 : i64}> : (tensor<15xf32>) -> (tensor<3xf32>, tensor<3xi32>)
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<2> : tensor<3xi32>}> : () -> tensor<3xi32>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<3> : tensor<3xi32>}> : () -> tensor<3xi32>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.minimum"(%[[V21]]#1, %[[V22]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.gather"(%[[V12]], %[[V24]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.convert"(%[[A1]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V28:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V27]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.subtract"(%[[V21]]#1, %[[V23]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.add"(%[[V29]], %[[V28]]) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.compare"(%[[V21]]#1, %[[V23]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.select"(%[[V31]], %[[V26]], %[[V30]]) : (tensor<3xi1>, tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
// CHECK-NEXT: "weir.yield"(%[[V21]]#0, %[[V32]]) : (tensor<3xf32>, tensor<3xi32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: -1, -1>, out_units = array<i64: 1, 1>, seed = "exponential tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<3xf32>, tensor<3xi32>) -> (tensor<3xf32>, tensor<3xi32>)
// CHECK-NEXT: "func.return"(%[[V2]]#0, %[[V2]]#1) : (tensor<3xf32>, tensor<3xi32>) -> ()
func.func public @main(%x: tensor<48xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %e = stablehlo.exponential %x : tensor<48xf32>
  %v, %i = chlo.top_k(%e, k = 3) : tensor<48xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return %v, %i : tensor<3xf32>, tensor<3xi32>
}
