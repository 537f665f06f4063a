// RUN: %weir opt %s --pass=dce | FileCheck %s

module {
  // %n feeds only itself, %pass is handed on: both fall; %sum is needed, and so is %k, which only %sum reads.
  // CHECK: sym_name = "carries"
  // CHECK: %[[W:[0-9]+]]:3 = "stablehlo.while"(%arg0, %arg1, %arg2) ({
  // CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: tensor<i32>, %{{[a-z0-9]+}}: tensor<f32>, %{{[a-z0-9]+}}: tensor<f32>):
  // CHECK: ^bb0(%[[I:[a-z0-9]+]]: tensor<i32>, %[[S:[a-z0-9]+]]: tensor<f32>, %[[K:[a-z0-9]+]]: tensor<f32>):
  // CHECK-NOT: stablehlo.multiply
  // CHECK: "stablehlo.add"(%[[S]], %[[K]])
  // CHECK: "func.return"(%[[W]]#1)
  func.func public @carries(%i0: tensor<i32>, %s0: tensor<f32>, %k0: tensor<f32>, %n0: tensor<f32>) -> tensor<f32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<9> : tensor<i32>
    %0:5 = stablehlo.while(%i = %i0, %pass = %n0, %n = %n0, %sum = %s0, %k = %k0) : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
     cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %n1 = stablehlo.multiply %n, %n : tensor<f32>
      %sum1 = stablehlo.add %sum, %k : tensor<f32>
      %k1 = stablehlo.negate %k : tensor<f32>
      stablehlo.return %next, %pass, %n1, %sum1, %k1 : tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
    }
    return %0#3 : tensor<f32>
  }

  // Nobody needs the loop at all.
  // CHECK: sym_name = "dead_loop"
  // CHECK-NOT: stablehlo.while
  // CHECK: "func.return"
  func.func public @dead_loop(%i0: tensor<i32>) {
    %end = stablehlo.constant dense<9> : tensor<i32>
    %0 = stablehlo.while(%i = %i0) : tensor<i32>
     cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %next : tensor<i32>
    }
    return
  }

  // An effect in the body keeps the loop and what the effect reads, not the rest.
  // CHECK: sym_name = "effect_in_body"
  // CHECK: :2 = "stablehlo.while"(%arg0, %arg1)
  // CHECK: call_target_name = "print"
  func.func public @effect_in_body(%i0: tensor<i32>, %a: tensor<f32>, %b: tensor<f32>) {
    %end = stablehlo.constant dense<9> : tensor<i32>
    %0:3 = stablehlo.while(%i = %i0, %x = %a, %y = %b) : tensor<i32>, tensor<f32>, tensor<f32>
     cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %next = stablehlo.add %i, %i : tensor<i32>
      stablehlo.custom_call @print(%x) {has_side_effect = true} : (tensor<f32>) -> ()
      stablehlo.return %next, %x, %y : tensor<i32>, tensor<f32>, tensor<f32>
    }
    return
  }

  // An attribute may list something per carry: hands off.
  // CHECK: sym_name = "attributes"
  // CHECK: :2 = "stablehlo.while"(%arg0, %arg1)
  func.func public @attributes(%i0: tensor<i32>, %a: tensor<f32>) -> tensor<i32> {
    %end = stablehlo.constant dense<9> : tensor<i32>
    %0:2 = "stablehlo.while"(%i0, %a) ({
    ^bb0(%i: tensor<i32>, %x: tensor<f32>):
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<f32>):
      %next = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %next, %x : tensor<i32>, tensor<f32>
    }) {mine.per_value = [1, 2]} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
    return %0#0 : tensor<i32>
  }
}
