// A sum of exp(x - max x): its carry is brought to the new maximum before a slice is added; infinite maxima count as 0.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V1]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]]:2 = "weir.loop"(%[[A0]], %[[V2]], %[[V3]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<12xf32>, %[[A4:[a-z0-9]+]]: tensor<f32>, %[[A5:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.add"(%[[A3]], %[[A3]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V7]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.maximum"(%[[A6]], %[[A7]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V9]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.maximum"(%[[A4]], %[[V8]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.abs"(%[[V10]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.compare"(%[[V13]], %[[V12]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.select"(%[[V14]], %[[V11]], %[[V10]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V15]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.subtract"(%[[V5]], %[[V16]]) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.exponential"(%[[V17]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.abs"(%[[A4]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.compare"(%[[V22]], %[[V21]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.select"(%[[V23]], %[[V20]], %[[A4]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V25:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.abs"(%[[V10]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V28:[a-z0-9]+]] = "stablehlo.compare"(%[[V27]], %[[V26]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.select"(%[[V28]], %[[V25]], %[[V10]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.subtract"(%[[V29]], %[[V24]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<-1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.multiply"(%[[V30]], %[[V31]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V33:[a-z0-9]+]] = "stablehlo.exponential"(%[[V32]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V34:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V33]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V35:[a-z0-9]+]] = "stablehlo.multiply"(%[[A5]], %[[V34]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V36:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V37:[a-z0-9]+]] = "stablehlo.compare"(%[[A5]], %[[V36]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V38:[a-z0-9]+]] = "stablehlo.select"(%[[V37]], %[[A5]], %[[V35]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V39:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V40:[a-z0-9]+]] = "stablehlo.reduce"(%[[V18]], %[[V39]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A8:[a-z0-9]+]]: tensor<f32>, %[[A9:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V41:[a-z0-9]+]] = "stablehlo.add"(%[[A8]], %[[A9]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V41]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V42:[a-z0-9]+]] = "stablehlo.add"(%[[V38]], %[[V40]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "weir.yield"(%[[V10]], %[[V42]]) : (tensor<f32>, tensor<f32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: -1, -1>, out_units = array<i64: 1, 1>, seed = "add tensor<48xf32>", slice = 12 : i64} : (tensor<48xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT: %[[V43:[a-z0-9]+]] = "stablehlo.abs"(%[[V4]]#0) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V44:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V45:[a-z0-9]+]] = "stablehlo.compare"(%[[V43]], %[[V44]]) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V46:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V45]]) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V47:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V4]]#0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V48:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<-1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V49:[a-z0-9]+]] = "stablehlo.multiply"(%[[V47]], %[[V48]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V50:[a-z0-9]+]] = "stablehlo.exponential"(%[[V49]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V51:[a-z0-9]+]] = "stablehlo.multiply"(%[[V4]]#1, %[[V50]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V52:[a-z0-9]+]] = "stablehlo.select"(%[[V46]], %[[V51]], %[[V4]]#1) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V52]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<48xf32>) -> tensor<f32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %xx = stablehlo.add %x, %x : tensor<48xf32>
  %m = stablehlo.reduce(%xx init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  %ms = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<48xf32>
  %d = stablehlo.subtract %xx, %ms : tensor<48xf32>
  %e = stablehlo.exponential %d : tensor<48xf32>
  %s = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [0] : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
