// What branches in a loop make is selected from all of them: the last branch for an index out of
// range, and the branch of an if. Not: branches with effects, loops that may not end, calls; without a
// limit, what is outside of loops.
// RUN: %weir opt %s --pass=if-convert,dce | FileCheck %s

// CHECK: sym_name = "three"
// CHECK: ^{{.*}}(%[[I:.*]]: tensor<i32>, %[[X:.*]]: tensor<8xf32>):
// CHECK: ^{{.*}}(%[[I:.*]]: tensor<i32>, %[[X:.*]]: tensor<8xf32>):
// CHECK-NOT: "stablehlo.case"
// CHECK: %[[COS:.*]] = "stablehlo.cosine"(%[[X]])
// CHECK: %[[SIN:.*]] = "stablehlo.sine"(%[[X]])
// CHECK: %[[ONE:.*]] = {{.*}} dense<1>
// CHECK: %[[IS:.*]] = "stablehlo.compare"(%[[I]], %[[ONE]]) {{.*}} EQ
// CHECK: %[[ALL:.*]] = "stablehlo.broadcast_in_dim"(%[[IS]])
// CHECK: %[[LATER:.*]] = "stablehlo.select"(%[[ALL]], %[[SIN]], %[[X]])
// CHECK: %[[ZERO:.*]] = {{.*}} dense<0>
// CHECK: "stablehlo.compare"(%[[I]], %[[ZERO]]) {{.*}} EQ
// CHECK: "stablehlo.select"({{.*}}, %[[COS]], %[[LATER]])
func.func @three(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
  %n = stablehlo.constant dense<5> : tensor<i32>
  %r:2 = stablehlo.while(%j = %i, %a = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %j, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = "stablehlo.case"(%j) ({
      %c = stablehlo.cosine %a : tensor<8xf32>
      stablehlo.return %c : tensor<8xf32>
    }, {
      %s = stablehlo.sine %a : tensor<8xf32>
      stablehlo.return %s : tensor<8xf32>
    }, {
      stablehlo.return %a : tensor<8xf32>
    }) : (tensor<i32>) -> tensor<8xf32>
    %k = stablehlo.add %j, %one : tensor<i32>
    stablehlo.return %k, %y : tensor<i32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// One in the other; a result that both agree on is no choice.
// CHECK: sym_name = "nested"
// CHECK-NOT: "stablehlo.if"
// CHECK-COUNT-2: "stablehlo.select"
// CHECK-NOT: "stablehlo.select"
// CHECK: sym_name = "endless"
func.func @nested(%x: tensor<8xf32>, %p: tensor<i1>, %q: tensor<i1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%b = %p, %a = %x) : tensor<i1>, tensor<8xf32>
  cond {
    stablehlo.return %b : tensor<i1>
  } do {
    %y:2 = "stablehlo.if"(%b) ({
      %z = "stablehlo.if"(%q) ({
        %c = stablehlo.cosine %a : tensor<8xf32>
        stablehlo.return %c : tensor<8xf32>
      }, {
        stablehlo.return %a : tensor<8xf32>
      }) : (tensor<i1>) -> tensor<8xf32>
      stablehlo.return %z, %q : tensor<8xf32>, tensor<i1>
    }, {
      %s = stablehlo.sine %a : tensor<8xf32>
      stablehlo.return %s, %q : tensor<8xf32>, tensor<i1>
    }) : (tensor<i1>) -> (tensor<8xf32>, tensor<i1>)
    stablehlo.return %y#1, %y#0 : tensor<i1>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// CHECK: "stablehlo.if"
// CHECK: sym_name = "calls"
func.func @endless(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%b = %p, %a = %x) : tensor<i1>, tensor<8xf32>
  cond {
    stablehlo.return %b : tensor<i1>
  } do {
    %y = "stablehlo.if"(%b) ({
      %s = stablehlo.while(%c = %a) : tensor<8xf32>
      cond {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %f = "stablehlo.slice"(%c) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<8xf32>) -> tensor<1xf32>
        %g = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>
        %h = stablehlo.compare GT, %g, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %h : tensor<i1>
      } do {
        %d = stablehlo.cosine %c : tensor<8xf32>
        stablehlo.return %d : tensor<8xf32>
      }
      stablehlo.return %s : tensor<8xf32>
    }, {
      stablehlo.return %a : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    stablehlo.return %b, %y : tensor<i1>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// CHECK: "stablehlo.if"
// CHECK: "stablehlo.if"
// CHECK: "stablehlo.if"
// CHECK: "stablehlo.if"
// CHECK: sym_name = "outside"
func.func @calls(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%b = %p, %a = %x) : tensor<i1>, tensor<8xf32>
  cond {
    stablehlo.return %b : tensor<i1>
  } do {
    %y = "stablehlo.if"(%b) ({
      %c = stablehlo.custom_call @my_function(%a) : (tensor<8xf32>) -> tensor<8xf32>
      stablehlo.return %c : tensor<8xf32>
    }, {
      stablehlo.return %a : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %z = "stablehlo.if"(%b) ({
      %c = stablehlo.custom_call @print(%y) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
      stablehlo.return %c : tensor<8xf32>
    }, {
      stablehlo.return %y : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %of_no_name = "stablehlo.if"(%b) ({
      %c = "stablehlo.custom_call"(%z) : (tensor<8xf32>) -> tensor<8xf32>
      stablehlo.return %c : tensor<8xf32>
    }, {
      stablehlo.return %z : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %m = stablehlo.broadcast_in_dim %of_no_name, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
    %f = "stablehlo.if"(%b) ({
      %c:2 = stablehlo.custom_call @lapack_spotrf_ffi(%m) {has_side_effect = true, mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<i32>)
      stablehlo.return %c#0 : tensor<8x8xf32>
    }, {
      stablehlo.return %m : tensor<8x8xf32>
    }) : (tensor<i1>) -> tensor<8x8xf32>
    %row = stablehlo.slice %f [0:1, 0:8] : (tensor<8x8xf32>) -> tensor<1x8xf32>
    %last = stablehlo.reshape %row : (tensor<1x8xf32>) -> tensor<8xf32>
    stablehlo.return %b, %last : tensor<i1>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// CHECK: "stablehlo.if"
func.func @outside(%x: tensor<8xf32>, %p: tensor<i1>) -> tensor<8xf32> {
  %y = "stablehlo.if"(%p) ({
    %c = stablehlo.cosine %x : tensor<8xf32>
    stablehlo.return %c : tensor<8xf32>
  }, {
    stablehlo.return %x : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
