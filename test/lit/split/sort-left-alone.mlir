// Not slice by slice: floats compared as numbers, among which NaNs have no place, and a comparator
// that computes, which might round elsewhere.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 | FileCheck %s

// CHECK: "stablehlo.sort"({{.*}}) <{dimension = 0 : i64, is_stable = true}>
// CHECK: -> tensor<64xf32>
// CHECK: "stablehlo.sort"({{.*}}) <{dimension = 0 : i64, is_stable = true}>
// CHECK: -> tensor<64xi32>
// CHECK-NOT: "stablehlo.sort"
func.func public @main(%x: tensor<64xf32>, %y: tensor<64xi32>) -> (tensor<f32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %o = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %l = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<64xf32>) -> tensor<64xf32>
  %p = "stablehlo.sort"(%y) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %d = stablehlo.multiply %a, %a : tensor<i32>
    %e = stablehlo.multiply %b, %b : tensor<i32>
    %l = stablehlo.compare LT, %d, %e, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<64xi32>) -> tensor<64xi32>
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %j = stablehlo.convert %i : (tensor<64xi32>) -> tensor<64xf32>
  %q = stablehlo.multiply %o, %j : tensor<64xf32>
  %r = stablehlo.multiply %p, %i : tensor<64xi32>
  %s = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  %t = stablehlo.reduce(%r init: %none) applies stablehlo.add across dimensions = [0] : (tensor<64xi32>, tensor<i32>) -> tensor<i32>
  return %s, %t : tensor<f32>, tensor<i32>
}
