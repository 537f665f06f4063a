// and, or, xor and products of integers.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xi32>, %[[A1:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A1]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A1]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A1]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[A1]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V4:[a-z0-9]+]]:4 = "weir.loop"(%[[A0]], %[[A1]], %[[V0]], %[[V1]], %[[V2]], %[[V3]]) ({
// CHECK-NEXT: ^bb0(%[[A2:[a-z0-9]+]]: tensor<i64>, %[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<12xi32>, %[[A5:[a-z0-9]+]]: tensor<i32>, %[[A6:[a-z0-9]+]]: tensor<i32>, %[[A7:[a-z0-9]+]]: tensor<i32>, %[[A8:[a-z0-9]+]]: tensor<i32>, %[[A9:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.negate"(%[[A4]]) : (tensor<12xi32>) -> tensor<12xi32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V6]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A10:[a-z0-9]+]]: tensor<i32>, %[[A11:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.and"(%[[A10]], %[[A11]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: "stablehlo.return"(%[[V8]]) : (tensor<i32>) -> ()
// CHECK-NEXT: }) : (tensor<12xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.and"(%[[A6]], %[[V7]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V10]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A12:[a-z0-9]+]]: tensor<i32>, %[[A13:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V12:[a-z0-9]+]] = "stablehlo.or"(%[[A12]], %[[A13]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: "stablehlo.return"(%[[V12]]) : (tensor<i32>) -> ()
// CHECK-NEXT: }) : (tensor<12xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V13:[a-z0-9]+]] = "stablehlo.or"(%[[A7]], %[[V11]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V14:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V15:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V14]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A14:[a-z0-9]+]]: tensor<i32>, %[[A15:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V16:[a-z0-9]+]] = "stablehlo.xor"(%[[A14]], %[[A15]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: "stablehlo.return"(%[[V16]]) : (tensor<i32>) -> ()
// CHECK-NEXT: }) : (tensor<12xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V17:[a-z0-9]+]] = "stablehlo.xor"(%[[A8]], %[[V15]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V18:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
// CHECK-NEXT: %[[V19:[a-z0-9]+]] = "stablehlo.reduce"(%[[V5]], %[[V18]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A16:[a-z0-9]+]]: tensor<i32>, %[[A17:[a-z0-9]+]]: tensor<i32>):
// CHECK-NEXT: %[[V20:[a-z0-9]+]] = "stablehlo.multiply"(%[[A16]], %[[A17]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: "stablehlo.return"(%[[V20]]) : (tensor<i32>) -> ()
// CHECK-NEXT: }) : (tensor<12xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: %[[V21:[a-z0-9]+]] = "stablehlo.multiply"(%[[A9]], %[[V19]]) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK-NEXT: "weir.yield"(%[[V9]], %[[V13]], %[[V17]], %[[V21]]) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
// CHECK-NEXT: }) {extent = 48 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>, out_dims = array<i64: -1, -1, -1, -1>, out_units = array<i64: 1, 1, 1, 1>, seed = "negate tensor<48xi32>", slice = 12 : i64} : (tensor<48xi32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
// CHECK-NEXT: "func.return"(%[[V4]]#0, %[[V4]]#1, %[[V4]]#2, %[[V4]]#3) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
func.func public @main(%x: tensor<48xi32>, %init: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %e = stablehlo.negate %x : tensor<48xi32>
  %0 = stablehlo.reduce(%e init: %init) applies stablehlo.and across dimensions = [0] : (tensor<48xi32>, tensor<i32>) -> tensor<i32>
  %1 = stablehlo.reduce(%e init: %init) applies stablehlo.or across dimensions = [0] : (tensor<48xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.reduce(%e init: %init) applies stablehlo.xor across dimensions = [0] : (tensor<48xi32>, tensor<i32>) -> tensor<i32>
  %3 = stablehlo.reduce(%e init: %init) applies stablehlo.multiply across dimensions = [0] : (tensor<48xi32>, tensor<i32>) -> tensor<i32>
  return %0, %1, %2, %3 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}
