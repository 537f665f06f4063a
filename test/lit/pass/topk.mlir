// A sort of which only one end is looked at is a top_k; to the bit.
// RUN: %weir opt %s --pass=topk,cse,dce | FileCheck %s

module {
  // The first k of an ascending sort of integers: the complement turns the order around. The
  // second array is an iota: the indices themselves.
  // CHECK: sym_name = "first"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.not"(%arg0)
  // CHECK-NEXT: %1:2 = "chlo.top_k"(%0) <{k = 3 : i64}>
  // CHECK-NEXT: %2 = "stablehlo.not"(%1#0)
  // CHECK-NEXT: "func.return"(%2, %1#1)
  func.func public @first(%x: tensor<2x40xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
    %i = stablehlo.iota dim = 1 : tensor<2x40xi32>
    %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x40xi32>, tensor<2x40xi32>) -> (tensor<2x40xi32>, tensor<2x40xi32>)
    %2 = stablehlo.slice %0#0 [0:2, 0:3] : (tensor<2x40xi32>) -> tensor<2x3xi32>
    %3 = stablehlo.slice %0#1 [0:2, 0:3] : (tensor<2x40xi32>) -> tensor<2x3xi32>
    return %2, %3 : tensor<2x3xi32>, tensor<2x3xi32>
  }

  // A descending one needs no turning; b > a backwards is the same; slices inside the first k
  // keep their starts and strides, also in another dimension.
  // CHECK: sym_name = "descending"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0:2 = "chlo.top_k"(%arg0) <{k = 7 : i64}>
  // CHECK-NEXT: %1 = "stablehlo.slice"(%0#0) <{limit_indices = array<i64: 2, 7>, start_indices = array<i64: 1, 2>, strides = array<i64: 1, 2>}>
  // CHECK-NEXT: %2 = "stablehlo.slice"(%0#0) <{limit_indices = array<i64: 2, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}>
  // CHECK-NEXT: "func.return"(%1, %2)
  func.func public @descending(%x: tensor<2x40xf32>) -> (tensor<1x3xf32>, tensor<2x1xf32>) {
    %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64, is_stable = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %b, %a, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<2x40xf32>) -> tensor<2x40xf32>
    %2 = stablehlo.slice %0 [1:2, 2:7:2] : (tensor<2x40xf32>) -> tensor<1x3xf32>
    %3 = stablehlo.slice %0 [0:2, 0:1] : (tensor<2x40xf32>) -> tensor<2x1xf32>
    return %2, %3 : tensor<1x3xf32>, tensor<2x1xf32>
  }

  // The last k, with indices: of equal ones the later, so the tensor is looked at from behind.
  // CHECK: sym_name = "last"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.reverse"(%arg0) <{dimensions = array<i64: 0>}>
  // CHECK-NEXT: %1:2 = "chlo.top_k"(%0) <{k = 2 : i64}>
  // CHECK-NEXT: %2 = "stablehlo.constant"() <{value = dense<39>
  // CHECK-NEXT: %3 = "stablehlo.subtract"(%2, %1#1)
  // CHECK-NEXT: %4 = "stablehlo.convert"(%3)
  // CHECK-NEXT: %5 = "stablehlo.reverse"(%4) <{dimensions = array<i64: 0>}>
  // CHECK-NEXT: "func.return"(%5)
  func.func public @last(%x: tensor<40xf64>) -> tensor<2xi64> {
    %i = stablehlo.iota dim = 0 : tensor<40xi64>
    %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i64>, %d: tensor<i64>):
      %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xf64>, tensor<40xi64>) -> (tensor<40xf64>, tensor<40xi64>)
    %2 = stablehlo.slice %0#1 [38:40] : (tensor<40xi64>) -> tensor<2xi64>
    return %2 : tensor<2xi64>
  }

  // What the comparator makes of its arguments is made of the tensor: |x|, along another
  // dimension; x itself comes by index.
  // CHECK: sym_name = "by_magnitude"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}>
  // CHECK-NEXT: %1 = "stablehlo.abs"(%0)
  // CHECK-NEXT: %2 = "stablehlo.negate"(%1)
  // CHECK-NEXT: %3:2 = "chlo.top_k"(%2) <{k = 2 : i64}>
  // CHECK-NEXT: %4 = "stablehlo.transpose"(%3#1) <{permutation = array<i64: 1, 0>}>
  // CHECK-NEXT: %5 = "stablehlo.gather"(%arg0, %4) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [1], start_index_map = [0], index_vector_dim = 2>
  // CHECK-NEXT: "func.return"(%5)
  func.func public @by_magnitude(%x: tensor<40x3xf32>) -> tensor<2x3xf32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.abs %a : tensor<f32>
      %d = stablehlo.abs %b : tensor<f32>
      %1 = stablehlo.compare LT, %c, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40x3xf32>) -> tensor<40x3xf32>
    %2 = stablehlo.slice %0 [0:2, 0:3] : (tensor<40x3xf32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }

  // CHECK: sym_name = "smallest"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.negate"(%arg0)
  // CHECK-NEXT: %1:2 = "chlo.top_k"(%0) <{k = 3 : i64}>
  // CHECK-NEXT: %2 = "stablehlo.negate"(%1#0)
  // CHECK-NEXT: "func.return"(%2, %1#1)
  func.func public @smallest(%x: tensor<4xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
    %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = false}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> (tensor<3xf32>, tensor<3xi32>)
    return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>
  }
}
