// RUN: %weir opt %s --pass=dce | FileCheck %s

module {
  // A chain of dead ops, a dead op with a region, a dead custom call without effects.
  // CHECK: sym_name = "dead"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "func.return"(%arg0)
  func.func public @dead(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %a : tensor<4xf32>
    %1 = stablehlo.add %0, %a : tensor<4xf32>
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.custom_call @pure(%2) : (tensor<f32>) -> tensor<f32>
    return %a : tensor<4xf32>
  }

  // Effects stay, with what they need: directly, in a region, through a call, of an op that we don't know, of random numbers.
  // CHECK: sym_name = "effects"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "stablehlo.tanh"
  // CHECK-NEXT: "stablehlo.custom_call"(%0)
  // CHECK-NEXT: "stablehlo.case"
  // CHECK-NEXT: call_target_name = "print"
  // CHECK-NEXT: "stablehlo.return"
  // CHECK-NEXT: }
  // CHECK-NEXT: callee = @prints
  // CHECK-NEXT: "mine.op"
  // CHECK-NEXT: "stablehlo.constant"
  // CHECK-NEXT: "stablehlo.constant"
  // CHECK-NEXT: "stablehlo.constant"
  // CHECK-NEXT: "stablehlo.rng"
  // CHECK-NEXT: "func.return"(%arg0)
  func.func public @effects(%a: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %a : tensor<4xf32>
    stablehlo.custom_call @print(%0) {has_side_effect = true} : (tensor<4xf32>) -> ()
    %1 = "stablehlo.case"(%i) ({
      %dead = stablehlo.abs %a : tensor<4xf32>
      stablehlo.custom_call @print(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
      stablehlo.return %a : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %2 = call @prints(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = call @does_not(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "mine.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %lo = stablehlo.constant dense<0.0> : tensor<f32>
    %hi = stablehlo.constant dense<1.0> : tensor<f32>
    %shape = stablehlo.constant dense<[4]> : tensor<1xi64>
    %5 = stablehlo.rng %lo, %hi, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    return %a : tensor<4xf32>
  }
  func.func private @prints(%a: tensor<4xf32>) -> tensor<4xf32> {
    stablehlo.custom_call @print(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
    return %a : tensor<4xf32>
  }
  func.func private @does_not(%a: tensor<4xf32>) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }

  // A result that is used in a region only is used.
  // CHECK: sym_name = "captured"
  // CHECK: "stablehlo.tanh"
  // CHECK: "stablehlo.case"
  func.func public @captured(%a: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %a : tensor<4xf32>
    %1 = "stablehlo.case"(%i) ({
      stablehlo.return %0 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }

  // A sort moves along what is read, and what it compares.
  // CHECK: sym_name = "sorted"
  // CHECK: ^bb0(%{{.*}}: tensor<4xf32>, %[[KEY:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xf64>)
  // CHECK: %[[S:.*]]:2 = "stablehlo.sort"(%[[KEY]], %[[B]])
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<i32>, %[[Y:.*]]: tensor<i32>, %{{.*}}: tensor<f64>, %{{.*}}: tensor<f64>)
  // CHECK: "stablehlo.compare"(%[[X]], %[[Y]])
  // CHECK: "func.return"(%[[S]]#1)
  func.func public @sorted(%a: tensor<4xf32>, %key: tensor<4xi32>, %b: tensor<4xf64>) -> tensor<4xf64> {
    %0:3 = "stablehlo.sort"(%a, %key, %b) <{dimension = 0 : i64}> ({
    ^bb0(%x0: tensor<f32>, %y0: tensor<f32>, %x1: tensor<i32>, %y1: tensor<i32>, %x2: tensor<f64>, %y2: tensor<f64>):
      %1 = stablehlo.compare LT, %x1, %y1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<4xf32>, tensor<4xi32>, tensor<4xf64>) -> (tensor<4xf32>, tensor<4xi32>, tensor<4xf64>)
    return %0#2 : tensor<4xf64>
  }

  // All results of other ops stay as they are, used or not.
  // CHECK: sym_name = "one_of_two"
  // CHECK: %{{.*}}:2 = "chlo.top_k"
  func.func public @one_of_two(%a: tensor<4xf32>) -> tensor<2xi32> {
    %0:2 = "chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    return %0#1 : tensor<2xi32>
  }
}
