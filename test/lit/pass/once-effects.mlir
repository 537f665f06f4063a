// RUN: %weir opt %s --pass=once | FileCheck %s

module {
  // What the condition calls is called twice, so its while stays. What the body calls is called once
  // where there is one trip, and never where there is none.
  // CHECK: sym_name = "main"
  // CHECK: "stablehlo.while"
  // CHECK: call_target_name = "asked"
  // CHECK: "stablehlo.add"(%[[Y:.*]], %[[Y]]) : (tensor<8xf32>
  // CHECK-NOT: "stablehlo.while"
  // CHECK: "stablehlo.custom_call"(%arg0) <{call_target_name = "told"
  // CHECK-NEXT: "stablehlo.multiply"(%arg0, %arg0)
  // CHECK-NOT: call_target_name
  // CHECK: "func.return"({{.*}}, %arg0)
  func.func public @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a:2 = stablehlo.while(%i = %z, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
      stablehlo.custom_call @asked(%i) {has_side_effect = true} : (tensor<i32>) -> ()
      %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.add %y, %y : tensor<8xf32>
      stablehlo.return %j, %s : tensor<i32>, tensor<8xf32>
    }
    %b:2 = stablehlo.while(%i = %z, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.custom_call @told(%y) {has_side_effect = true} : (tensor<8xf32>) -> ()
      %s = stablehlo.multiply %y, %y : tensor<8xf32>
      stablehlo.return %j, %s : tensor<i32>, tensor<8xf32>
    }
    %d:2 = stablehlo.while(%i = %one, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.custom_call @never(%y) {has_side_effect = true} : (tensor<8xf32>) -> ()
      stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
    }
    return %a#1, %b#1, %d#1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
