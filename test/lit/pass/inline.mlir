// RUN: %weir opt %s --pass=inline | FileCheck %s

module {
  // Twice nested, called from two places; nothing but @main and what may not go is left.
  // CHECK: sym_name = "main"
  // CHECK-NEXT: ^bb0(%arg0: tensor<4xf32>):
  // CHECK-NEXT: %0 = "stablehlo.tanh"(%arg0)
  // CHECK-NEXT: %1 = "stablehlo.add"(%0, %arg0)
  // CHECK-NEXT: %2 = "stablehlo.tanh"(%1)
  // CHECK-NEXT: %3 = "stablehlo.add"(%2, %1)
  // CHECK-NEXT: "func.return"(%3, %1)
  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = call @outer(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = call @swap(%0, %a) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2 = call @outer(%1#1) : (tensor<4xf32>) -> tensor<4xf32>
    return %2, %1#1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @outer(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.add %0, %a : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  // Results that are arguments: what the call's users get is the caller's own values.
  func.func private @swap(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    return %b, %a : tensor<4xf32>, tensor<4xf32>
  }

  // A call inside of a region, and a value of the caller's that the result is used with there; locations stay.
  // CHECK: sym_name = "in_region"
  // CHECK: "stablehlo.case"(%arg0) ({
  // CHECK-NEXT: %[[T:[0-9]+]] = "stablehlo.tanh"(%arg1) : {{.*}} loc("inner.py":3:1)
  // CHECK-NEXT: %[[S:[0-9]+]] = "stablehlo.abs"(%[[T]])
  // CHECK-NEXT: "stablehlo.return"(%[[S]])
  func.func public @in_region(%i: tensor<i32>, %a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.case"(%i) ({
      %1 = func.call @located(%a) : (tensor<4xf32>) -> tensor<4xf32>
      %2 = stablehlo.abs %1 : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @located(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %a : tensor<4xf32> loc("inner.py":3:1)
    return %0 : tensor<4xf32>
  }

  // Effects keep their order.
  // CHECK: sym_name = "effects"
  // CHECK-NEXT: ^bb0(%arg0: tensor<4xf32>):
  // CHECK-NEXT: call_target_name = "first"
  // CHECK-NEXT: call_target_name = "second"
  // CHECK-NEXT: call_target_name = "third"
  // CHECK-NEXT: "func.return"
  func.func public @effects(%a: tensor<4xf32>) {
    stablehlo.custom_call @first(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
    call @print(%a) : (tensor<4xf32>) -> ()
    stablehlo.custom_call @third(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
    return
  }
  func.func private @print(%a: tensor<4xf32>) {
    stablehlo.custom_call @second(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
    return
  }

  // A function that something else names stays; one that nobody names goes, called or not.
  // CHECK: sym_name = "names_one"
  // CHECK: called_computations = [@comparator]
  // CHECK: sym_name = "comparator"
  // CHECK-NOT: sym_name
  func.func public @names_one(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @foreign(%a) {called_computations = [@comparator]} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @comparator(%a: tensor<f32>, %b: tensor<f32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @unused(%a: tensor<f32>) -> tensor<f32> {
    return %a : tensor<f32>
  }
}
