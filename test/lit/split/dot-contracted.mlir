// The contracted dimension, unevenly: both operands are masked, products summed in the carry.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<37xf32>, %[[A1:[a-z0-9]+]]: tensor<37x2xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<2xf32>}> : () -> tensor<2xf32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[V0]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<10xf32>, %[[A5:[a-z0-9]+]]: tensor<10x2xf32>, %[[A6:[a-z0-9]+]]: tensor<2xf32>):
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.exponential"(%[[A4]]) : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<10xf32>}> : () -> tensor<10xf32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.subtract"(%[[A3]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xi32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.convert"(%[[V4]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V6]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<10xi32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.compare"(%[[V5]], %[[V7]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V8]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<10xi1>) -> tensor<10xi1>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.select"(%[[V9]], %[[V2]], %[[V3]]) : (tensor<10xi1>, tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<10x2xf32>}> : () -> tensor<10x2xf32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.subtract"(%[[A3]], %[[A2]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xi32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.convert"(%[[V12]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V14]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<10xi32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.compare"(%[[V13]], %[[V15]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V16]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<10xi1>) -> tensor<10x2xi1>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.select"(%[[V17]], %[[A5]], %[[V11]]) : (tensor<10x2xi1>, tensor<10x2xf32>, tensor<10x2xf32>) -> tensor<10x2xf32>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.dot_general"(%[[V10]], %[[V18]]) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<10xf32>, tensor<10x2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.add"(%[[A6]], %[[V19]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: "weir.yield"(%[[V20]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: }) {extent = 37 : i64, in_dims = array<i64: 0, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<37xf32>", slice = 10 : i64} : (tensor<37xf32>, tensor<37x2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: "func.return"(%[[V1]]) : (tensor<2xf32>) -> ()
func.func public @main(%x: tensor<37xf32>, %b: tensor<37x2xf32>) -> tensor<2xf32> {
  %e = stablehlo.exponential %x : tensor<37xf32>
  %d = stablehlo.dot_general %e, %b, contracting_dims = [0] x [0] : (tensor<37xf32>, tensor<37x2xf32>) -> tensor<2xf32>
  return %d : tensor<2xf32>
}
