// What is put at the places of a sort is an inverse permutation: a sum over it, and a scatter that adds up by it, are
// made in the order of the sort. Not: where a third reader wants it as it is; another permutation; a scatter
// that keeps the last of several.
// RUN: %weir opt %s --pass=inverse,dce | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: %[[S:[0-9]+]]:2 = "stablehlo.sort"
// CHECK: %[[A:[0-9]+]] = "stablehlo.reshape"(%arg1) : (tensor<64xi32>) -> tensor<64x1xi32>
// CHECK: %[[D:[0-9]+]] = "stablehlo.gather"(%arg2, %[[S]]#1)
// CHECK: "stablehlo.scatter"(%{{[0-9]+}}, %[[A]], %[[D]]) <{indices_are_sorted = false
// CHECK: %[[M:[0-9]+]] = "stablehlo.multiply"(%arg1, %{{[0-9]+}})
// CHECK: "stablehlo.reduce"(%[[M]],
// CHECK-NOT: stablehlo.scatter
// CHECK: "func.return"
func.func public @main(%x: tensor<64xf32>, %u: tensor<64xi32>, %d: tensor<64xf32>, %e: tensor<64xi32>) -> (tensor<8xf32>, tensor<i32>) {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %zeros = stablehlo.constant dense<0> : tensor<64xi32>
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %y = "stablehlo.scatter"(%zeros, %p, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<64xi32>, tensor<64x1xi32>, tensor<64xi32>) -> tensor<64xi32>
  %bins = stablehlo.constant dense<0.0> : tensor<8xf32>
  %at = stablehlo.reshape %y : (tensor<64xi32>) -> tensor<64x1xi32>
  %sums = "stablehlo.scatter"(%bins, %at, %d) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %h = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %h : tensor<f32>
  }) : (tensor<8xf32>, tensor<64x1xi32>, tensor<64xf32>) -> tensor<8xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %m = stablehlo.multiply %y, %e : tensor<64xi32>
  %sum = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xi32>, tensor<i32>) -> tensor<i32>
  return %sums, %sum : tensor<8xf32>, tensor<i32>
}

// CHECK: sym_name = "kept"
// CHECK: %[[Y:[0-9]+]] = "stablehlo.scatter"
// CHECK: "stablehlo.reshape"(%[[Y]])
// CHECK: "stablehlo.scatter"
// CHECK: %[[Z:[0-9]+]] = "stablehlo.scatter"
// CHECK: "stablehlo.reduce"(%[[Z]],
func.func @kept(%x: tensor<64xf32>, %u: tensor<64xi32>, %q: tensor<64x1xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<i32>) {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %f: tensor<i32>, %g: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %zeros = stablehlo.constant dense<0> : tensor<64xi32>
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %y = "stablehlo.scatter"(%zeros, %p, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<64xi32>, tensor<64x1xi32>, tensor<64xi32>) -> tensor<64xi32>
  %at = stablehlo.reshape %y : (tensor<64xi32>) -> tensor<64x1xi32>
  %last = "stablehlo.scatter"(%zeros, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<64xi32>, tensor<64x1xi32>, tensor<64xi32>) -> tensor<64xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %z = "stablehlo.scatter"(%zeros, %q, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<64xi32>, tensor<64x1xi32>, tensor<64xi32>) -> tensor<64xi32>
  %sum = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xi32>, tensor<i32>) -> tensor<i32>
  return %last, %z, %sum : tensor<64xi32>, tensor<64xi32>, tensor<i32>
}
