// RUN: %weir opt %s --pass=cse | FileCheck %s

module {
  // Operands are compared after renaming, so equal chains fall together; constants by content.
  // CHECK: sym_name = "chains"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.constant"
  // CHECK-NEXT: %1 = "stablehlo.add"(%arg0, %0)
  // CHECK-NEXT: %2 = "stablehlo.tanh"(%1)
  // CHECK-NEXT: "func.return"(%2, %2)
  func.func public @chains(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %c0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %c1 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = stablehlo.add %a, %c0 : tensor<2xf32>
    %1 = stablehlo.add %a, %c1 : tensor<2xf32>
    %2 = stablehlo.tanh %0 : tensor<2xf32>
    %3 = stablehlo.tanh %1 : tensor<2xf32>
    return %2, %3 : tensor<2xf32>, tensor<2xf32>
  }

  // Not equal: content, type, attribute, order of operands, kind.
  // CHECK: sym_name = "different"
  // CHECK: dense<1.000000e+00> : tensor<2xf32>
  // CHECK: dense<-1.000000e+00> : tensor<2xf32>
  // CHECK: dense<1.000000e+00> : tensor<2xf64>
  // CHECK: iota_dimension = 0
  // CHECK: iota_dimension = 1
  // CHECK: "stablehlo.subtract"(%arg0, %arg1)
  // CHECK: "stablehlo.subtract"(%arg1, %arg0)
  // CHECK: "stablehlo.sine"
  // CHECK: "stablehlo.cosine"
  func.func public @different(%a: tensor<2xf32>, %b: tensor<2xf32>) {
    %c0 = stablehlo.constant dense<1.0> : tensor<2xf32>
    %c1 = stablehlo.constant dense<-1.0> : tensor<2xf32>
    %c2 = stablehlo.constant dense<1.0> : tensor<2xf64>
    %i0 = stablehlo.iota dim = 0 : tensor<2x2xi32>
    %i1 = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %0 = stablehlo.subtract %a, %b : tensor<2xf32>
    %1 = stablehlo.subtract %b, %a : tensor<2xf32>
    %2 = stablehlo.sine %a : tensor<2xf32>
    %3 = stablehlo.cosine %a : tensor<2xf32>
    return
  }

  // Regions are compared by structure: the first two sums are one, the product and the swapped difference are not.
  // CHECK: sym_name = "regions"
  // CHECK-COUNT-3: "stablehlo.reduce"
  // CHECK-NOT: "stablehlo.reduce"
  // CHECK: "func.return"(%[[SUM:[0-9]+]], %[[SUM]], %{{[0-9]+}}, %{{[0-9]+}})
  func.func public @regions(%a: tensor<2xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %4 = stablehlo.subtract %p, %q : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}> ({
    ^bb0(%r: tensor<f32>, %s: tensor<f32>):
      %5 = stablehlo.subtract %r, %s : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}> ({
    ^bb0(%t: tensor<f32>, %u: tensor<f32>):
      %6 = stablehlo.subtract %u, %t : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %3 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}> ({
    ^bb0(%v: tensor<f32>, %w: tensor<f32>):
      %7 = stablehlo.multiply %v, %w : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  }

  // A failed comparison of regions leaves nothing behind: the users of unequal results stay apart.
  // CHECK: sym_name = "after_a_mismatch"
  // CHECK: %[[A:[0-9]+]] = "stablehlo.negate"
  // CHECK: %[[B:[0-9]+]] = "stablehlo.negate"
  // CHECK: "func.return"(%[[A]], %[[B]])
  func.func public @after_a_mismatch(%a: tensor<2xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %1 = stablehlo.reduce(%a init: %i) applies stablehlo.maximum across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.negate %0 : tensor<f32>
    %3 = stablehlo.negate %1 : tensor<f32>
    return %2, %3 : tensor<f32>, tensor<f32>
  }

  // Regions are not looked out of, and not merged with each other; within one, equal ops are.
  // CHECK: sym_name = "scopes"
  // CHECK: "stablehlo.tanh"(%arg1)
  // CHECK: "stablehlo.case"
  // CHECK: "stablehlo.tanh"(%arg1)
  // CHECK-NEXT: "stablehlo.add"(%[[T:[0-9]+]], %[[T]])
  // CHECK: "stablehlo.tanh"(%arg1)
  func.func public @scopes(%i: tensor<i32>, %a: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.tanh %a : tensor<2xf32>
    %1 = "stablehlo.case"(%i) ({
      %2 = stablehlo.tanh %a : tensor<2xf32>
      %3 = stablehlo.tanh %a : tensor<2xf32>
      %4 = stablehlo.add %2, %3 : tensor<2xf32>
      stablehlo.return %4 : tensor<2xf32>
    }, {
      %5 = stablehlo.tanh %a : tensor<2xf32>
      stablehlo.return %5 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }

  // Effects, calls, unknown ops and barriers are never merged, and neither is what holds them.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-2: "stablehlo.custom_call"
  // CHECK-COUNT-2: "func.call"
  // CHECK-COUNT-2: "mine.op"
  // CHECK-COUNT-2: "stablehlo.optimization_barrier"
  // CHECK-COUNT-2: "stablehlo.case"
  // CHECK: "func.return"
  func.func public @left_alone(%i: tensor<i32>, %a: tensor<2xf32>) {
    %0 = stablehlo.custom_call @pure(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.custom_call @pure(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %2 = call @callee(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %3 = call @callee(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %4 = "mine.op"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %5 = "mine.op"(%a) : (tensor<2xf32>) -> tensor<2xf32>
    %6 = stablehlo.optimization_barrier %a : tensor<2xf32>
    %7 = stablehlo.optimization_barrier %a : tensor<2xf32>
    %8 = "stablehlo.case"(%i) ({
      %9 = "mine.op"(%a) : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %9 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    %10 = "stablehlo.case"(%i) ({
      %11 = "mine.op"(%a) : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %11 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    return
  }
  func.func private @callee(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }

  // Bodies that begin alike.
  // CHECK-LABEL: sym_name = "bodies"
  // CHECK-COUNT-2: "stablehlo.reduce"(
  func.func public @bodies(%x: tensor<8xf32>, %z: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      %t = stablehlo.negate %s : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      %t = stablehlo.abs %s : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    return %0, %1 : tensor<f32>, tensor<f32>
  }

  // As many operands as fill a place of their own: what lies behind them is another op's.
  // CHECK-LABEL: sym_name = "four"
  // CHECK-COUNT-1: "stablehlo.dynamic_update_slice"(
  // CHECK-NOT: "stablehlo.dynamic_update_slice"(
  func.func public @four(%x: tensor<4x4xf32>, %y: tensor<1x4xf32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %0 = stablehlo.dynamic_update_slice %x, %y, %i, %j : (tensor<4x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
    %1 = stablehlo.negate %x : tensor<4x4xf32>
    %2 = stablehlo.dynamic_update_slice %x, %y, %i, %j : (tensor<4x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x4xf32>
    return %0, %3 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
