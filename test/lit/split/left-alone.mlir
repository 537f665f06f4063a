// A reducer that is not associative in what it returns; a sort along the only dimension: nothing changes.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<48xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.sort"(%[[A0]]) <{dimension = 0 : i64, is_stable = true}> ({
// CHECK-NEXT: ^bb0(%[[A1:[a-z0-9]+]]: tensor<f32>, %[[A2:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.compare"(%[[A1]], %[[A2]]) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
// CHECK-NEXT: "stablehlo.return"(%[[V2]]) : (tensor<i1>) -> ()
// CHECK-NEXT: }) : (tensor<48xf32>) -> tensor<48xf32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.reduce"(%[[V1]], %[[V0]]) <{dimensions = array<i64: 0>}> ({
// CHECK-NEXT: ^bb0(%[[A3:[a-z0-9]+]]: tensor<f32>, %[[A4:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.add"(%[[A3]], %[[A4]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.tanh"(%[[V4]]) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V5]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "func.return"(%[[V3]]) : (tensor<f32>) -> ()
func.func public @main(%x: tensor<48xf32>) -> tensor<f32> {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %o = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<48xf32>) -> tensor<48xf32>
  %s = "stablehlo.reduce"(%o, %none) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.add %a, %b : tensor<f32>
    %q = stablehlo.tanh %p : tensor<f32>
    stablehlo.return %q : tensor<f32>
  }) : (tensor<48xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
