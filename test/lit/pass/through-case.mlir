// Broadcasts that end branches go behind them, of the branch that was asked for; what a branch makes
// of them stays, with zeros in the others. A value from outside, a constant and a broadcast of
// what is outside need nothing of the branches.
// RUN: %weir opt %s --pass=through-case,dce | FileCheck %s

// CHECK: sym_name = "check"
// CHECK: ^{{.*}}(%[[X:.*]]: tensor<32x5xf32>, %[[BAD:.*]]: tensor<i1>):
// CHECK: %[[SMALL:.*]]:2 = "stablehlo.if"(%[[BAD]])
// CHECK-NEXT: %[[ROW:.*]] = "stablehlo.custom_call"() <{call_target_name = "raise"}> : () -> tensor<5xf32>
// CHECK-NEXT: %[[N:.*]] = "stablehlo.custom_call"
// CHECK-NEXT: "stablehlo.return"(%[[ROW]], %[[N]])
// CHECK: %[[ZERO:.*]] = "stablehlo.broadcast_in_dim"({{.*}}) {{.*}} -> tensor<5xf32>
// CHECK: "stablehlo.return"(%[[ZERO]], {{.*}}) : (tensor<5xf32>, tensor<i32>)
// CHECK: %[[ROWS:.*]] = "stablehlo.broadcast_in_dim"(%[[SMALL]]#0) {{.*}} array<i64: 1>
// CHECK: %[[ALL:.*]] = "stablehlo.broadcast_in_dim"(%[[BAD]])
// CHECK: %[[R:.*]] = "stablehlo.select"(%[[ALL]], %[[ROWS]], %[[X]])
// CHECK: "func.return"(%[[R]], %[[SMALL]]#1)
func.func @check(%x: tensor<32x5xf32>, %bad: tensor<i1>) -> (tensor<32x5xf32>, tensor<i32>) {
  %y:2 = "stablehlo.if"(%bad) ({
    %row = stablehlo.custom_call @raise() : () -> tensor<5xf32>
    %n = stablehlo.custom_call @raise() : () -> tensor<i32>
    %rows = stablehlo.broadcast_in_dim %row, dims = [1] : (tensor<5xf32>) -> tensor<32x5xf32>
    stablehlo.return %rows, %n : tensor<32x5xf32>, tensor<i32>
  }, {
    %one = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.return %x, %one : tensor<32x5xf32>, tensor<i32>
  }) : (tensor<i1>) -> (tensor<32x5xf32>, tensor<i32>)
  return %y#0, %y#1 : tensor<32x5xf32>, tensor<i32>
}

// Two branches that broadcast, one of them a constant's; an index out of range is the last branch's.
// CHECK: sym_name = "two"
// CHECK: ^{{.*}}(%[[X:.*]]: tensor<32xf32>, %[[I:.*]]: tensor<i32>, %[[S:.*]]: tensor<f32>):
// CHECK: %[[OF:.*]]:2 = "stablehlo.case"(%[[I]])
// CHECK: "stablehlo.return"({{.*}}) : (tensor<f32>, tensor<f32>)
// CHECK: "stablehlo.return"({{.*}}) : (tensor<f32>, tensor<f32>)
// CHECK: "stablehlo.return"({{.*}}) : (tensor<f32>, tensor<f32>)
// CHECK: "stablehlo.return"({{.*}}) : (tensor<f32>, tensor<f32>)
// CHECK: %[[FIRST:.*]] = "stablehlo.broadcast_in_dim"(%[[OF]]#0)
// CHECK: %[[SEVEN:.*]] = {{.*}} dense<7.0
// CHECK: %[[THIRD:.*]] = "stablehlo.broadcast_in_dim"(%[[OF]]#1)
// CHECK: %[[LAST:.*]] = "stablehlo.broadcast_in_dim"(%[[S]])
// CHECK: %[[C:.*]] = "stablehlo.select"({{.*}}, %[[THIRD]], %[[LAST]])
// CHECK: %[[B:.*]] = "stablehlo.select"({{.*}}, %[[SEVEN]], %[[C]])
// CHECK: "stablehlo.select"({{.*}}, %[[FIRST]], %[[B]])
func.func @two(%x: tensor<32xf32>, %i: tensor<i32>, %s: tensor<f32>) -> tensor<32xf32> {
  %y = "stablehlo.case"(%i) ({
    %c = stablehlo.custom_call @first() : () -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<32xf32>
    stablehlo.return %b : tensor<32xf32>
  }, {
    %b = stablehlo.constant dense<7.0> : tensor<32xf32>
    stablehlo.return %b : tensor<32xf32>
  }, {
    %c = stablehlo.cosine %s : tensor<f32>
    %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<32xf32>
    stablehlo.return %b : tensor<32xf32>
  }, {
    %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<32xf32>
    stablehlo.return %b : tensor<32xf32>
  }) : (tensor<i32>) -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// Nothing is left to hand out: no case without effects, an effect keeps its own.
// CHECK: sym_name = "nothing"
// CHECK-NOT: "stablehlo.if"
// CHECK: "stablehlo.select"
// CHECK: "stablehlo.if"
// CHECK: call_target_name = "print"
// CHECK: }) : (tensor<i1>) -> tensor<32xf32>
func.func @nothing(%x: tensor<32xf32>, %p: tensor<i1>) -> (tensor<32xf32>, tensor<32xf32>) {
  %a = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<32xf32>
  }, {
    %one = stablehlo.constant dense<1.0> : tensor<32xf32>
    stablehlo.return %one : tensor<32xf32>
  }) : (tensor<i1>) -> tensor<32xf32>
  %b = "stablehlo.if"(%p) ({
    stablehlo.custom_call @print() {has_side_effect = true} : () -> ()
    stablehlo.return %x : tensor<32xf32>
  }, {
    %one = stablehlo.constant dense<1.0> : tensor<32xf32>
    stablehlo.return %one : tensor<32xf32>
  }) : (tensor<i1>) -> tensor<32xf32>
  return %a, %b : tensor<32xf32>, tensor<32xf32>
}

// Left alone: what a branch makes whole, broadcasts of what is nearly as large, a choice of what is there.
// CHECK: sym_name = "whole"
// CHECK-NOT: "stablehlo.select"
// CHECK: "stablehlo.if"
// CHECK-NOT: "stablehlo.select"
// CHECK: "stablehlo.if"
// CHECK-NOT: "stablehlo.select"
// CHECK: "stablehlo.if"
// CHECK-NOT: "stablehlo.select"
func.func @whole(%x: tensor<32xf32>, %y: tensor<32xf32>, %p: tensor<i1>) -> (tensor<32xf32>, tensor<8x2xf32>, tensor<32xf32>) {
  %a = "stablehlo.if"(%p) ({
    %c = stablehlo.custom_call @raise() : () -> tensor<32xf32>
    stablehlo.return %c : tensor<32xf32>
  }, {
    stablehlo.return %x : tensor<32xf32>
  }) : (tensor<i1>) -> tensor<32xf32>
  %b = "stablehlo.if"(%p) ({
    %c = stablehlo.custom_call @raise() : () -> tensor<8xf32>
    %d = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<8xf32>) -> tensor<8x2xf32>
    stablehlo.return %d : tensor<8x2xf32>
  }, {
    %c = stablehlo.constant dense<1.0> : tensor<8x2xf32>
    stablehlo.return %c : tensor<8x2xf32>
  }) : (tensor<i1>) -> tensor<8x2xf32>
  %c = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<32xf32>
  }, {
    stablehlo.return %y : tensor<32xf32>
  }) : (tensor<i1>) -> tensor<32xf32>
  return %a, %b, %c : tensor<32xf32>, tensor<8x2xf32>, tensor<32xf32>
}

// Nor what says more about its results, nor results whose sizes are not known.
// CHECK: sym_name = "unknown"
// CHECK-NOT: "stablehlo.select"
// CHECK: "stablehlo.if"
// CHECK-NOT: "stablehlo.select"
// CHECK: "stablehlo.if"
// CHECK-NOT: "stablehlo.select"
func.func @unknown(%x: tensor<32xf32>, %y: tensor<?xf32>, %p: tensor<i1>) -> (tensor<32xf32>, tensor<?xf32>) {
  %a = "stablehlo.if"(%p) ({
    %one = stablehlo.constant dense<1.0> : tensor<32xf32>
    stablehlo.return %one : tensor<32xf32>
  }, {
    stablehlo.return %x : tensor<32xf32>
  }) {my.results = "32"} : (tensor<i1>) -> tensor<32xf32>
  %b:2 = "stablehlo.if"(%p) ({
    %one = stablehlo.constant dense<1.0> : tensor<32xf32>
    stablehlo.return %y, %one : tensor<?xf32>, tensor<32xf32>
  }, {
    stablehlo.return %y, %x : tensor<?xf32>, tensor<32xf32>
  }) : (tensor<i1>) -> (tensor<?xf32>, tensor<32xf32>)
  %c = stablehlo.add %a, %b#1 : tensor<32xf32>
  return %c, %b#0 : tensor<32xf32>, tensor<?xf32>
}
