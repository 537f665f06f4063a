// A barrier of several values says no more than one of each does.
// RUN: %weir opt %s --pass=unbundle | FileCheck %s

module {
  // CHECK: sym_name = "several"
  // CHECK: %[[A:.*]] = "stablehlo.optimization_barrier"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[B:.*]] = "stablehlo.optimization_barrier"(%arg1) : (tensor<2xi32>) -> tensor<2xi32>
  // CHECK: "func.return"(%[[B]], %[[A]])
  func.func @several(%a: tensor<4xf32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<4xf32>) {
    %0:2 = stablehlo.optimization_barrier %a, %b : tensor<4xf32>, tensor<2xi32>
    return %0#1, %0#0 : tensor<2xi32>, tensor<4xf32>
  }

  // One stays as it is.
  // CHECK: sym_name = "one"
  // CHECK: %[[C:.*]] = "stablehlo.optimization_barrier"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: "func.return"(%[[C]])
  func.func @one(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.optimization_barrier %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
