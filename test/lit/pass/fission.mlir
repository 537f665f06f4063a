// What is the same in all slices of a while becomes a while of its own, in front of it.
// RUN: %weir opt %s --pass=fission,dce --tensor-size-threshold 16kB | FileCheck %s

// What the rows read of what they share is kept for all trips, and the last of it is the result.
// CHECK-LABEL: sym_name = "shared"
// CHECK:      %[[F:[0-9]+]]:3 = "stablehlo.while"
// CHECK:        "stablehlo.dot_general"
// CHECK:        %[[B:[0-9]+]] = "stablehlo.dot_general"
// CHECK:        %[[ROW:[0-9]+]] = "stablehlo.reshape"(%[[B]])
// CHECK:        "stablehlo.dynamic_update_slice"(%{{arg[0-9]+}}, %[[ROW]], %{{arg[0-9]+}}
// CHECK:      %[[G:[0-9]+]]:3 = "stablehlo.while"(%{{[0-9]+}}, %arg1, %[[F]]#2)
// CHECK:        "stablehlo.dynamic_slice"
// CHECK-NEXT:   %[[K:[0-9]+]] = "stablehlo.reshape"
// CHECK:        "stablehlo.dot_general"(%{{arg[0-9]+}}, %[[K]])
// CHECK-NOT:    stablehlo.dot_general
// CHECK:      "func.return"(%[[F]]#1, %[[G]]#1)
func.func public @shared(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<8x8xf32>, tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#1, %r#2 : tensor<8x8xf32>, tensor<1000x8xf32>
}

// One number is kept, not what it becomes; what the trip's number says is made again. Trips that
// begin at 3 are kept from 0 on.
// CHECK-LABEL: sym_name = "number"
// CHECK:      %[[F:[0-9]+]]:3 = "stablehlo.while"
// CHECK:        %[[M:[0-9]+]] = "stablehlo.reduce"
// CHECK:        %[[AT:[0-9]+]] = "stablehlo.subtract"
// CHECK:        %[[ONE:[0-9]+]] = "stablehlo.reshape"(%[[M]])
// CHECK:        "stablehlo.dynamic_update_slice"(%{{arg[0-9]+}}, %[[ONE]], %[[AT]]) : (tensor<7xf32>
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %arg1, %[[F]]#2)
// CHECK:        %[[N:[0-9]+]] = "stablehlo.reshape"(%{{[0-9]+}}) : (tensor<1xf32>)
// CHECK:        "stablehlo.broadcast_in_dim"(%[[N]])
// CHECK:        "stablehlo.convert"
func.func public @number(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %r:3 = stablehlo.while(%i = %three, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %f = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%b init: %f) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %w = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<1000x8xf32>
    %t = stablehlo.convert %i : (tensor<i32>) -> tensor<f32>
    %v = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<1000x8xf32>
    %y = stablehlo.multiply %s, %w : tensor<1000x8xf32>
    %z = stablehlo.add %y, %v : tensor<1000x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#2 : tensor<1000x8xf32>
}

// Left alone: what the rows make, too.
// CHECK-LABEL: sym_name = "rows"
// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @rows(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    %f = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%z init: %f) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<1000x8xf32>, tensor<f32>) -> tensor<f32>
    %w = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %e = stablehlo.add %b, %w : tensor<8x8xf32>
    stablehlo.return %j, %e, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#2 : tensor<1000x8xf32>
}

// How many trips there are is not known.
// CHECK-LABEL: sym_name = "unknown"
// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @unknown(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %l = stablehlo.constant dense<9.0> : tensor<f32>
    %f = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%q init: %f) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    %c = stablehlo.compare LT, %m, %l : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#2 : tensor<1000x8xf32>
}

// What all trips keep is large.
// CHECK-LABEL: sym_name = "long"
// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @long(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %n = stablehlo.constant dense<100> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#2 : tensor<1000x8xf32>
}

// One trip.
// CHECK-LABEL: sym_name = "once"
// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @once(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %n = stablehlo.constant dense<1> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#2 : tensor<1000x8xf32>
}

// A call that has an effect.
// CHECK-LABEL: sym_name = "effect"
// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @effect(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %e = stablehlo.custom_call @tick(%q) {has_side_effect = true} : (tensor<8x8xf32>) -> tensor<i32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#2 : tensor<1000x8xf32>
}

// It is made as fast as it is read.
// CHECK-LABEL: sym_name = "quick"
// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @quick(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.add %q, %q : tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>
  }
  return %r#2 : tensor<1000x8xf32>
}

// The rows are few.
// CHECK-LABEL: sym_name = "small"
// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @small(%p: tensor<8x8xf32>, %x: tensor<100x8xf32>) -> (tensor<100x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %q = %p, %s = %x) : tensor<i32>, tensor<8x8xf32>, tensor<100x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<100x8xf32>, tensor<8x8xf32>) -> tensor<100x8xf32>
    %z = stablehlo.tanh %y : tensor<100x8xf32>
    stablehlo.return %j, %b, %z : tensor<i32>, tensor<8x8xf32>, tensor<100x8xf32>
  }
  return %r#2 : tensor<100x8xf32>
}

// Who reads the stack of all rows takes them together.
// CHECK-LABEL: sym_name = "reader"
// CHECK-COUNT-2: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @reader(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %u0 = stablehlo.broadcast_in_dim %f0, dims = [] : (tensor<f32>) -> tensor<10x1000x8xf32>
  %r:4 = stablehlo.while(%i = %zero, %q = %p, %s = %x, %u = %u0) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %h = stablehlo.reshape %z : (tensor<1000x8xf32>) -> tensor<1x1000x8xf32>
    %v = stablehlo.dynamic_update_slice %u, %h, %i, %o, %o : (tensor<10x1000x8xf32>, tensor<1x1000x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<10x1000x8xf32>
    stablehlo.return %j, %b, %z, %v : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  }
  %t:3 = stablehlo.while(%i = %zero, %g = %x, %u = %r#3) : tensor<i32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %h = stablehlo.dynamic_slice %u, %i, %o, %o, sizes = [1, 1000, 8] : (tensor<10x1000x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1000x8xf32>
    %a = stablehlo.reshape %h : (tensor<1x1000x8xf32>) -> tensor<1000x8xf32>
    %b = stablehlo.add %g, %a : tensor<1000x8xf32>
    %q = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%b init: %q) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<1000x8xf32>, tensor<f32>) -> tensor<f32>
    %w = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1000x8xf32>
    %m = stablehlo.subtract %b, %w : tensor<1000x8xf32>
    stablehlo.return %j, %m, %u : tensor<i32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  }
  return %t#1 : tensor<1000x8xf32>
}

// It may go by rows, too.
// CHECK-LABEL: sym_name = "slices"
// CHECK-COUNT-3: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: func.return
func.func public @slices(%p: tensor<8x8xf32>, %x: tensor<1000x8xf32>, %k: tensor<f32>) -> (tensor<1000x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %u0 = stablehlo.broadcast_in_dim %f0, dims = [] : (tensor<f32>) -> tensor<10x1000x8xf32>
  %r:4 = stablehlo.while(%i = %zero, %q = %p, %s = %x, %u = %u0) : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.dot_general %a, %q, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %s, %b, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x8xf32>) -> tensor<1000x8xf32>
    %z = stablehlo.tanh %y : tensor<1000x8xf32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %h = stablehlo.reshape %z : (tensor<1000x8xf32>) -> tensor<1x1000x8xf32>
    %v = stablehlo.dynamic_update_slice %u, %h, %i, %o, %o : (tensor<10x1000x8xf32>, tensor<1x1000x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<10x1000x8xf32>
    stablehlo.return %j, %b, %z, %v : tensor<i32>, tensor<8x8xf32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  }
  %t:3 = stablehlo.while(%i = %zero, %g = %x, %u = %r#3) : tensor<i32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %h = stablehlo.dynamic_slice %u, %i, %o, %o, sizes = [1, 1000, 8] : (tensor<10x1000x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1000x8xf32>
    %a = stablehlo.reshape %h : (tensor<1x1000x8xf32>) -> tensor<1000x8xf32>
    %b = stablehlo.add %g, %a : tensor<1000x8xf32>
    %m = stablehlo.tanh %b : tensor<1000x8xf32>
    stablehlo.return %j, %m, %u : tensor<i32>, tensor<1000x8xf32>, tensor<10x1000x8xf32>
  }
  return %t#1 : tensor<1000x8xf32>
}
