// RUN: %weir opt %s --pass=inline | FileCheck %s

module {
  // CHECK: sym_name = "main"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "stablehlo.tanh"(%arg0)
  // CHECK-NEXT: "chlo.top_k"(%arg0) <{k = 3 : i64}> : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  // CHECK-NOT: sym_name = "top"
  func.func public @main(%a: tensor<2x8xf32>) -> (tensor<2x8xf32>, tensor<2x3xf32>, tensor<2x3xi32>) {
    %0 = stablehlo.composite "example.soft" %a {decomposition = @soft, version = 2 : i32} : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %1:2 = stablehlo.composite "chlo.top_k" %a {composite_attributes = {k = 3 : i64}, decomposition = @top} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    return %0, %1#0, %1#1 : tensor<2x8xf32>, tensor<2x3xf32>, tensor<2x3xi32>
  }

  // Attributes that chlo.top_k does not have: what the composite means is its decomposition.
  // CHECK: sym_name = "other_top_k"
  // CHECK-NOT: chlo.top_k
  // CHECK: "stablehlo.slice"
  func.func public @other_top_k(%a: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
    %0:2 = stablehlo.composite "chlo.top_k" %a {composite_attributes = {k = 3 : i64, largest = false}, decomposition = @top} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
  }

  // Nor has it such a k: its results have three elements.
  // CHECK: sym_name = "other_k"
  // CHECK-NOT: chlo.top_k
  // CHECK: "stablehlo.slice"
  // CHECK-NOT: sym_name
  func.func public @other_k(%a: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
    %0:2 = stablehlo.composite "chlo.top_k" %a {composite_attributes = {k = 4 : i64}, decomposition = @top} : (tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
    return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
  }

  func.func private @soft(%a: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = stablehlo.tanh %a : tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
  func.func private @top(%a: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
    %0 = stablehlo.slice %a [0:2, 0:3] : (tensor<2x8xf32>) -> tensor<2x3xf32>
    %1 = stablehlo.iota dim = 1 : tensor<2x3xi32>
    return %0, %1 : tensor<2x3xf32>, tensor<2x3xi32>
  }
}
