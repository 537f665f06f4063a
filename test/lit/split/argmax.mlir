// argmax with both results over the split dimension: its reducer, lifted, merges the slices' results.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<47xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V0]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V1]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]]:2 = "weir.loop"(%[[A0]], %[[V2]], %[[V3]]) ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<i64>, %[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<12xf32>, %[[A4:[a-z0-9]+]]: tensor<f32>, %[[A5:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.exponential"(%[[A3]]) : (tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xi32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.convert"(%[[A1]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V7]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.add"(%[[V6]], %[[V8]]) : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V10]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.subtract"(%[[A2]], %[[A1]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xi32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.convert"(%[[V13]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V15]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.compare"(%[[V14]], %[[V16]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V17]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xi1>) -> tensor<12xi1>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.select"(%[[V18]], %[[V5]], %[[V12]]) : (tensor<12xi1>, tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V11]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.subtract"(%[[A2]], %[[A1]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V22:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xi32>
// CHECK-NEXT: %[[V23:[a-z0-9]+]] = "stablehlo.convert"(%[[V21]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V24:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V23]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V25:[a-z0-9]+]] = "stablehlo.compare"(%[[V22]], %[[V24]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
// CHECK-NEXT: %[[V26:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V25]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xi1>) -> tensor<12xi1>
// CHECK-NEXT: %[[V27:[a-z0-9]+]] = "stablehlo.select"(%[[V26]], %[[V9]], %[[V20]]) : (tensor<12xi1>, tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V28:[a-z0-9]+]]:2 = "stablehlo.reduce"(%[[V19]], %[[V27]], %[[V10]], %[[V11]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A6:[a-z0-9]+]]: tensor<f32>, %[[A7:[a-z0-9]+]]: tensor<i32>, %[[A8:[a-z0-9]+]]: tensor<f32>, %[[A9:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V29:[a-z0-9]+]] = "stablehlo.compare"(%[[A6]], %[[A8]]) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V30:[a-z0-9]+]] = "stablehlo.compare"(%[[A6]], %[[A8]]) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V31:[a-z0-9]+]] = "stablehlo.compare"(%[[A7]], %[[A9]]) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %[[V32:[a-z0-9]+]] = "stablehlo.and"(%[[V30]], %[[V31]]) : (tensor<i1>, tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V33:[a-z0-9]+]] = "stablehlo.or"(%[[V29]], %[[V32]]) : (tensor<i1>, tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V34:[a-z0-9]+]] = "stablehlo.select"(%[[V29]], %[[A6]], %[[A8]]) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V35:[a-z0-9]+]] = "stablehlo.select"(%[[V33]], %[[A7]], %[[A9]]) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: "stablehlo.return"(%[[V34]], %[[V35]]) : (tensor<f32>, tensor<i32>) -> ()
// CHECK-NEXT: }) : (tensor<12xf32>, tensor<12xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
// CHECK-NEXT: %[[V36:[a-z0-9]+]] = "stablehlo.compare"(%[[A4]], %[[V28]]#0) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V37:[a-z0-9]+]] = "stablehlo.compare"(%[[A4]], %[[V28]]#0) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: %[[V38:[a-z0-9]+]] = "stablehlo.compare"(%[[A5]], %[[V28]]#1) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: %[[V39:[a-z0-9]+]] = "stablehlo.and"(%[[V37]], %[[V38]]) : (tensor<i1>, tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V40:[a-z0-9]+]] = "stablehlo.or"(%[[V36]], %[[V39]]) : (tensor<i1>, tensor<i1>) -> tensor<i1>
// CHECK-NEXT: %[[V41:[a-z0-9]+]] = "stablehlo.select"(%[[V36]], %[[A4]], %[[V28]]#0) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V42:[a-z0-9]+]] = "stablehlo.select"(%[[V40]], %[[A5]], %[[V28]]#1) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: "weir.yield"(%[[V41]], %[[V42]]) : (tensor<f32>, tensor<i32>) -> ()
// CHECK-NEXT: }) {extent = 47 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: -1, -1>, out_units = array<i64: 1, 1>, seed = "iota tensor<47xi32>", slice = 12 : i64} : (tensor<47xf32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
// CHECK-NEXT: "func.return"(%[[V4]]#0, %[[V4]]#1) : (tensor<f32>, tensor<i32>) -> ()
func.func public @main(%x: tensor<47xf32>) -> (tensor<f32>, tensor<i32>) {
  %at = stablehlo.iota dim = 0 : tensor<47xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %e = stablehlo.exponential %x : tensor<47xf32>
  %v, %i = "stablehlo.reduce"(%e, %at, %low, %none) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %ai: tensor<i32>, %b: tensor<f32>, %bi: tensor<i32>):
    %g = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %q = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %l = stablehlo.compare LT, %ai, %bi : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = stablehlo.and %q, %l : tensor<i1>
    %w = stablehlo.or %g, %t : tensor<i1>
    %m = stablehlo.select %g, %a, %b : tensor<i1>, tensor<f32>
    %mi = stablehlo.select %w, %ai, %bi : tensor<i1>, tensor<i32>
    stablehlo.return %m, %mi : tensor<f32>, tensor<i32>
  }) : (tensor<47xf32>, tensor<47xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  return %v, %i : tensor<f32>, tensor<i32>
}
