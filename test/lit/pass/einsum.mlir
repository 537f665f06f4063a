// An einsum is a product, sums of what only one operand has, and a transpose.
// RUN: %weir opt %s --pass=einsum | FileCheck %s

module {
  // CHECK: sym_name = "product"
  // CHECK: %[[P:.*]] = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<2x3x5xf32>
  // CHECK: "stablehlo.transpose"(%[[P]]) <{permutation = array<i64: 2, 0, 1>}>
  func.func @product(%a: tensor<2x3x4xf32>, %b: tensor<4x2x5xf32>) -> tensor<5x2x3xf32> {
    %0 = stablehlo.einsum %a, %b, config = "bij,jbk->kbi" : (tensor<2x3x4xf32>, tensor<4x2x5xf32>) -> tensor<5x2x3xf32>
    return %0 : tensor<5x2x3xf32>
  }

  // CHECK: sym_name = "own"
  // CHECK: %[[S:.*]] = "stablehlo.reduce"(%arg0
  // CHECK: "stablehlo.dot_general"(%[[S]], %arg1) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<2xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.func @own(%a: tensor<2x3xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.einsum %a, %b, config = "ix,k->ik" : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }

  // CHECK: sym_name = "one"
  // CHECK: %[[D:.*]] = "stablehlo.select"(%{{.*}}, %arg0, %{{.*}}) : (tensor<3x3x2xi1>, tensor<3x3x2xf32>, tensor<3x3x2xf32>) -> tensor<3x3x2xf32>
  // CHECK: %[[R:.*]] = "stablehlo.reduce"(%[[D]], {{.*}}) <{dimensions = array<i64: 1>}>
  // CHECK: "stablehlo.transpose"(%[[R]]) <{permutation = array<i64: 1, 0>}> : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.func @one(%a: tensor<3x3x2xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.unary_einsum %a, config = "iij->ji" : (tensor<3x3x2xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }

  // What does not read, does not fit, or would be summed in too few bits.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-10: "stablehlo.einsum"
  // CHECK-COUNT-3: "stablehlo.unary_einsum"
  func.func @left_alone(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<2x3xf8E5M2>, %d: tensor<?x3xf32>, %e: tensor<2x3xf64>) {
    %0 = stablehlo.einsum %a, %b, config = "ij,jk" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.einsum %a, %b, config = "" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.einsum %a, %b, config = "...j,jk->...k" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.einsum %a, %b, config = "ij,ik->jk" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %4 = stablehlo.einsum %a, %b, config = "ij,jk->ii" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %5 = stablehlo.einsum %a, %b, config = "ij,jk->iz" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %6 = stablehlo.einsum %a, %b, config = "ijl,jk->ik" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %7 = stablehlo.einsum %d, %b, config = "ij,jk->ik" : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
    %8 = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x5xf32>
    %9 = stablehlo.einsum %a, %e, config = "ij,ij->i" : (tensor<2x3xf32>, tensor<2x3xf64>) -> tensor<2xf64>
    %10 = stablehlo.unary_einsum %a, config = "ij,ij->i" : (tensor<2x3xf32>) -> tensor<2xf32>
    %11 = stablehlo.unary_einsum %c, config = "ij->i" : (tensor<2x3xf8E5M2>) -> tensor<2xf8E5M2>
    %12 = "stablehlo.unary_einsum"(%a) : (tensor<2x3xf32>) -> tensor<2xf32>
    return
  }
}
