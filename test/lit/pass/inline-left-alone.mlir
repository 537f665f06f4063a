// What inline must not touch.
// RUN: %weir opt %s --pass=inline | FileCheck %s

module {
  // CHECK: sym_name = "main"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "func.call"(%arg0) <{callee = @self}>
  // CHECK-NEXT: "func.call"(%{{.*}}) <{callee = @ping}>
  // CHECK-NEXT: "func.call"(%{{.*}}) <{callee = @outside}>
  // CHECK-NEXT: "func.call"(%{{.*}}) <{callee = @marked, no_inline}>
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @self(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @ping(%0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = call @outside(%1) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = "func.call"(%2) <{callee = @marked, no_inline}> : (tensor<4xf32>) -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }

  // CHECK: sym_name = "self"
  // CHECK: callee = @self
  func.func private @self(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @self(%a) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // Each calls the other; the leaf that one of them calls is inlined all the same.
  // CHECK: sym_name = "ping"
  // CHECK-NOT: callee = @leaf
  // CHECK: stablehlo.tanh
  // CHECK: callee = @pong
  func.func private @ping(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @leaf(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @pong(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  // CHECK: sym_name = "pong"
  // CHECK: callee = @ping
  func.func private @pong(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @ping(%a) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // CHECK-NOT: sym_name = "leaf"
  func.func private @leaf(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // CHECK: sym_name = "outside"
  func.func private @outside(tensor<4xf32>) -> tensor<4xf32>
  // CHECK: sym_name = "marked"
  func.func private @marked(%a: tensor<4xf32>) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}
