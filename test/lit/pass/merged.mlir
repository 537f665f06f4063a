// Right-hand sides of two `vmap`s are merged in the order in which they lie, and taken apart as before.
// RUN: %weir opt %s --pass=merged,dce | FileCheck %s

module {
  // CHECK: sym_name = "solves"
  // CHECK: %[[T:.*]] = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 2, 0, 1>}> : (tensor<5x4x3xf32>) -> tensor<3x5x4xf32>
  // CHECK: %[[R:.*]] = "stablehlo.reshape"(%[[T]]) : (tensor<3x5x4xf32>) -> tensor<3x20xf32>
  // CHECK: %[[S:.*]] = "stablehlo.triangular_solve"(%arg0, %[[R]])
  // CHECK: %[[B:.*]] = "stablehlo.triangular_solve"(%arg0, %[[S]])
  // CHECK: %[[N:.*]] = "stablehlo.negate"(%[[B]])
  // CHECK: %[[A:.*]] = "stablehlo.reshape"(%[[N]]) : (tensor<3x20xf32>) -> tensor<3x5x4xf32>
  // CHECK: "stablehlo.transpose"(%[[A]]) <{permutation = array<i64: 0, 2, 1>}> : (tensor<3x5x4xf32>) -> tensor<3x4x5xf32>
  func.func @solves(%a: tensor<3x3xf32>, %b: tensor<5x4x3xf32>) -> tensor<3x4x5xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = "stablehlo.triangular_solve"(%a, %1) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x20xf32>) -> tensor<3x20xf32>
    %3 = "stablehlo.triangular_solve"(%a, %2) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<3x20xf32>) -> tensor<3x20xf32>
    %4 = stablehlo.negate %3 : tensor<3x20xf32>
    %5 = stablehlo.reshape %4 : (tensor<3x20xf32>) -> tensor<3x4x5xf32>
    return %5 : tensor<3x4x5xf32>
  }

  // A product, whose free dimension it is: it is another one of the result.
  // CHECK: sym_name = "product"
  // CHECK: "stablehlo.reshape"({{.*}}) : (tensor<2x5x4x3xf32>) -> tensor<2x20x3xf32>
  // CHECK: "stablehlo.dot_general"({{.*}} -> tensor<7x2x20xf32>
  // CHECK: %[[A:.*]] = "stablehlo.reshape"({{.*}}) : (tensor<7x2x20xf32>) -> tensor<7x2x5x4xf32>
  // CHECK: "stablehlo.transpose"(%[[A]]) <{permutation = array<i64: 0, 1, 3, 2>}>
  func.func @product(%a: tensor<7x3xf32>, %b: tensor<5x4x3x2xf32>) -> tensor<7x2x4x5xf32> {
    %0 = stablehlo.transpose %b, dims = [3, 1, 0, 2] : (tensor<5x4x3x2xf32>) -> tensor<2x4x5x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x4x5x3xf32>) -> tensor<2x20x3xf32>
    %2 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [2] : (tensor<7x3xf32>, tensor<2x20x3xf32>) -> tensor<7x2x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<7x2x20xf32>) -> tensor<7x2x4x5xf32>
    return %3 : tensor<7x2x4x5xf32>
  }

  // In order already; read before it is apart; two operands that have it; read twice by a product; along it not alike; apart
  // into other dimensions; apart elsewhere. All stay as they are.
  // CHECK: sym_name = "ordered"
  // CHECK-COUNT-1: permutation = array<i64: 2, 0, 1>
  func.func @ordered(%b: tensor<5x4x3xf32>) -> tensor<3x5x4xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 0, 1] : (tensor<5x4x3xf32>) -> tensor<3x5x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x5x4xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.sine %1 : tensor<3x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x20xf32>) -> tensor<3x5x4xf32>
    return %3 : tensor<3x5x4xf32>
  }
  // CHECK: sym_name = "read"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK-NOT: permutation
  func.func @read(%b: tensor<5x4x3xf32>) -> (tensor<3x4x5xf32>, tensor<3x20xf32>) {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.sine %1 : tensor<3x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x20xf32>) -> tensor<3x4x5xf32>
    return %3, %2 : tensor<3x4x5xf32>, tensor<3x20xf32>
  }
  // CHECK: sym_name = "two"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK-NOT: permutation
  func.func @two(%b: tensor<5x4x3xf32>, %c: tensor<3x20xf32>) -> tensor<3x4x5xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.add %1, %c : tensor<3x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x20xf32>) -> tensor<3x4x5xf32>
    return %3 : tensor<3x4x5xf32>
  }
  // CHECK: sym_name = "gram"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK-NOT: permutation
  func.func @gram(%b: tensor<5x4x3xf32>) -> tensor<4x5x20xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.dot_general %1, %1, contracting_dims = [0] x [0] : (tensor<3x20xf32>, tensor<3x20xf32>) -> tensor<20x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<20x20xf32>) -> tensor<4x5x20xf32>
    return %3 : tensor<4x5x20xf32>
  }
  // CHECK: sym_name = "turned"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK: permutation = array<i64: 1, 0>
  // CHECK-NOT: permutation
  func.func @turned(%b: tensor<5x4x3xf32>) -> tensor<4x5x20xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<3x20xf32>) -> tensor<20x3xf32>
    %3 = stablehlo.dot_general %2, %1, contracting_dims = [1] x [0] : (tensor<20x3xf32>, tensor<3x20xf32>) -> tensor<20x20xf32>
    %4 = stablehlo.reshape %3 : (tensor<20x20xf32>) -> tensor<4x5x20xf32>
    return %4 : tensor<4x5x20xf32>
  }
  // CHECK: sym_name = "reversed"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK-NOT: permutation
  func.func @reversed(%b: tensor<5x4x3xf32>) -> tensor<3x4x5xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.reverse %1, dims = [1] : tensor<3x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x20xf32>) -> tensor<3x4x5xf32>
    return %3 : tensor<3x4x5xf32>
  }
  // CHECK: sym_name = "written"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK-NOT: permutation
  func.func @written(%b: tensor<5x4x3xf32>, %c: tensor<2x7xf32>, %i: tensor<i32>) -> tensor<3x4x5xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.dynamic_update_slice %1, %c, %i, %i : (tensor<3x20xf32>, tensor<2x7xf32>, tensor<i32>, tensor<i32>) -> tensor<3x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x20xf32>) -> tensor<3x4x5xf32>
    return %3 : tensor<3x4x5xf32>
  }
  // CHECK: sym_name = "otherwise"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK-NOT: permutation
  func.func @otherwise(%b: tensor<5x4x3xf32>) -> tensor<3x10x2xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x3xf32>) -> tensor<3x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<3x20xf32>
    %2 = stablehlo.sine %1 : tensor<3x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<3x20xf32>) -> tensor<3x10x2xf32>
    return %3 : tensor<3x10x2xf32>
  }
  // CHECK: sym_name = "elsewhere"
  // CHECK: permutation = array<i64: 2, 1, 0>
  // CHECK-NOT: permutation = array<i64: 0, 2, 1>
  // CHECK: return
  func.func @elsewhere(%b: tensor<5x4x20xf32>) -> tensor<4x5x20xf32> {
    %0 = stablehlo.transpose %b, dims = [2, 1, 0] : (tensor<5x4x20xf32>) -> tensor<20x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<20x4x5xf32>) -> tensor<20x20xf32>
    %2 = stablehlo.sine %1 : tensor<20x20xf32>
    %3 = stablehlo.reshape %2 : (tensor<20x20xf32>) -> tensor<4x5x20xf32>
    return %3 : tensor<4x5x20xf32>
  }
}
