// Of a matrix of which only the diagonal is looked at only the diagonal is computed.
// RUN: %weir opt %s --pass=ranges,dce,diagonal,dce | FileCheck %s
// RUN: %weir opt %s --pass=diagonal,dce --skip=diagonal | FileCheck %s --check-prefix=SKIP
// RUN: %weir opt %s --memory-limit=1GB --pass=diagonal,dce | FileCheck %s --check-prefix=SKIP
// SKIP: "stablehlo.gather"
// SKIP: "stablehlo.dot_general"

module {
  // CHECK: sym_name = "gathered"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[A:.*]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 8, 3>, start_indices = array<i64: 0, 0>
  // CHECK-NEXT: %[[B:.*]] = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 9, 3>, start_indices = array<i64: 1, 0>
  // CHECK-NEXT: %[[P:.*]] = "stablehlo.multiply"(%[[A]], %[[B]]) : (tensor<8x3xf32>
  // CHECK: %[[S:.*]] = "stablehlo.reduce"(%[[P]],
  // CHECK: %[[E:.*]] = "stablehlo.exponential"(%[[S]]) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: "func.return"(%[[E]])
  func.func public @gathered(%a: tensor<9x3xf32>, %b: tensor<9x3xf32>) -> tensor<8xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<9x3xf32>, tensor<9x3xf32>) -> tensor<9x9xf32>
    %1 = stablehlo.exponential %0 : tensor<9x9xf32>
    %one = stablehlo.constant dense<1> : tensor<8xi32>
    %nine = stablehlo.constant dense<9> : tensor<8xi32>
    %zero = stablehlo.constant dense<0> : tensor<8xi32>
    %i = stablehlo.iota dim = 0 : tensor<8xi32>
    %j = stablehlo.add %i, %one : tensor<8xi32>
    %below = stablehlo.compare LT, %j, %zero, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %wrapped = stablehlo.add %j, %nine : tensor<8xi32>
    %k = stablehlo.select %below, %wrapped, %j : tensor<8xi1>, tensor<8xi32>
    %2 = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %3 = stablehlo.broadcast_in_dim %k, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %4 = stablehlo.concatenate %2, %3, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
    %5 = "stablehlo.gather"(%1, %4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<9x9xf32>, tensor<8x2xi32>) -> tensor<8xf32>
    return %5 : tensor<8xf32>
  }

  // The trace of a product.
  // CHECK: sym_name = "trace"
  // CHECK-NOT: 9x9x
  // CHECK: "stablehlo.reduce"({{.*}}<{dimensions = array<i64: 1>}>
  // CHECK: "stablehlo.reduce"({{.*}}<{dimensions = array<i64: 0>}>
  func.func public @trace(%a: tensor<9x3xf32>, %b: tensor<9x3xf32>) -> tensor<f32> {
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %zeros = stablehlo.constant dense<0.0> : tensor<9x9xf32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<9x3xf32>, tensor<9x3xf32>) -> tensor<9x9xf32>
    %i = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %j = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %on = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %1 = stablehlo.select %on, %0, %zeros : tensor<9x9xi1>, tensor<9x9xf32>
    %2 = stablehlo.reduce(%1 init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<9x9xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }

  // A mask that multiplies (infinities off the diagonal count), another fill, no reduction.
  // CHECK: sym_name = "left_alone"
  // CHECK: %[[P:.*]] = "stablehlo.dot_general"({{.*}}) -> tensor<9x9xf32>
  // CHECK: "stablehlo.multiply"(%[[P]], {{.*}}) : (tensor<9x9xf32>
  // CHECK: "stablehlo.select"({{.*}}) : (tensor<9x9xi1>, tensor<9x9xf32>
  func.func public @left_alone(%a: tensor<9x3xf32>, %b: tensor<9x3xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9x9xf32>) {
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %ones = stablehlo.constant dense<1.0> : tensor<9x9xf32>
    %zeros = stablehlo.constant dense<0.0> : tensor<9x9xf32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<9x3xf32>, tensor<9x3xf32>) -> tensor<9x9xf32>
    %i = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %j = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %on = stablehlo.compare EQ, %i, %j, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %eye = stablehlo.convert %on : (tensor<9x9xi1>) -> tensor<9x9xf32>
    %1 = stablehlo.multiply %0, %eye : tensor<9x9xf32>
    %2 = stablehlo.reduce(%1 init: %none) applies stablehlo.add across dimensions = [0] : (tensor<9x9xf32>, tensor<f32>) -> tensor<9xf32>
    %3 = stablehlo.select %on, %0, %ones : tensor<9x9xi1>, tensor<9x9xf32>
    %4 = stablehlo.reduce(%3 init: %none) applies stablehlo.add across dimensions = [0] : (tensor<9x9xf32>, tensor<f32>) -> tensor<9xf32>
    %5 = stablehlo.select %on, %0, %zeros : tensor<9x9xi1>, tensor<9x9xf32>
    return %2, %4, %5 : tensor<9xf32>, tensor<9xf32>, tensor<9x9xf32>
  }
}
