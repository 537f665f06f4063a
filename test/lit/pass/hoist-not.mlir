// What stays in a while.
// RUN: %weir opt %s --pass=hoist --tensor-size-threshold 1MB | FileCheck %s

func.func public @main(%x: tensor<1000xf32>, %w: tensor<1000xf32>, %a: tensor<20x20xf32>, %big: tensor<400x400xf32>, %huge: tensor<300000xf32>, %token: !stablehlo.token, %dyn: tensor<?xf32>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>

// It reads what a trip changes.
// CHECK-NOT: "stablehlo.exponential"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.exponential"
  %r0:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.exponential %s : tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Moves, which are made where they are read.
// CHECK-NOT: "stablehlo.reverse"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.reverse"
  %r1:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.reverse %w, dims = [0] : tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Made as fast as it is read.
// CHECK-NOT: "stablehlo.negate"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.negate"
  %r2:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.negate %w : tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// A barrier.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r3:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %h = stablehlo.optimization_barrier %w : tensor<1000xf32>
    %e = stablehlo.sine %h : tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// A call of what is not linear algebra.
// CHECK-NOT: "stablehlo.custom_call"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.custom_call"
  %r4:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.custom_call @some_call(%w) : (tensor<1000xf32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Linear algebra that says that it has an effect.
// CHECK-NOT: "stablehlo.custom_call"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.custom_call"
  %r5:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %l:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {api_version = 4 : i32, has_side_effect = true, backend_config = {uplo = 76 : ui8}} : (tensor<20x20xf32>) -> (tensor<20x20xf32>, tensor<i32>)
    %l1 = stablehlo.slice %l#0 [0:20, 0:1] : (tensor<20x20xf32>) -> tensor<20x1xf32>
    %l2 = stablehlo.reshape %l1 : (tensor<20x1xf32>) -> tensor<20xf32>
    %e0 = stablehlo.broadcast_in_dim %l2, dims = [1] : (tensor<20xf32>) -> tensor<50x20xf32>
    %e = stablehlo.reshape %e0 : (tensor<50x20xf32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Random numbers: an effect.
// CHECK-NOT: "stablehlo.rng"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.rng"
  %r6:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %lo = stablehlo.constant dense<0.0> : tensor<f32>
    %hi = stablehlo.constant dense<1.0> : tensor<f32>
    %sh = stablehlo.constant dense<1000> : tensor<1xi64>
    %e = stablehlo.rng %lo, %hi, %sh, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// An op that nobody knows.
// CHECK-NOT: "other.op"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "other.op"
  %r7:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = "other.op"(%w) : (tensor<1000xf32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Attributes of others.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r8:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = "stablehlo.sine"(%w) {mhlo.frontend_attributes = {a = "b"}} : (tensor<1000xf32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// A reducer that reads what is outside of it.
// CHECK-NOT: "stablehlo.reduce"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.reduce"
  %r9:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.slice %s [0:1] : (tensor<1000xf32>) -> tensor<1xf32>
    %scale = stablehlo.reshape %sum : (tensor<1xf32>) -> tensor<f32>
    %m = "stablehlo.reduce"(%w, %low) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %g = stablehlo.multiply %q, %scale : tensor<f32>
      %h = stablehlo.add %p, %g : tensor<f32>
      stablehlo.return %h : tensor<f32>
    }) : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    %e = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// One trip.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r10:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<1> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.sine %w : tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// No trip.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r11:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.sine %w : tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Large, and read in parts, a part a trip.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r12:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.sine %big : tensor<400x400xf32>
    %p = stablehlo.dynamic_slice %f, %i, %zero, sizes = [1, 400] : (tensor<400x400xf32>, tensor<i32>, tensor<i32>) -> tensor<1x400xf32>
    %q = stablehlo.slice %p [0:1, 0:1] : (tensor<1x400xf32>) -> tensor<1x1xf32>
    %r = stablehlo.reshape %q : (tensor<1x1xf32>) -> tensor<f32>
    %e = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Larger than the threshold.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r13:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.sine %huge : tensor<300000xf32>
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %g = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<300000xi32>
    %h = stablehlo.convert %g : (tensor<300000xi32>) -> tensor<300000xf32>
    %k = stablehlo.multiply %f, %h : tensor<300000xf32>
    %m = stablehlo.reduce(%k init: %low) applies stablehlo.add across dimensions = [0] : (tensor<300000xf32>, tensor<f32>) -> tensor<f32>
    %e = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// In a branch, which may not be taken.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r14:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %odd = stablehlo.remainder %i, %two : tensor<i32>
    %e = "stablehlo.case"(%odd) ({
      %f = stablehlo.sine %w : tensor<1000xf32>
      stablehlo.return %f : tensor<1000xf32>
    }, {
      stablehlo.return %s : tensor<1000xf32>
    }) : (tensor<i32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Written over by a part.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r15:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.sine %w : tensor<1000xf32>
    %p = stablehlo.slice %s [0:3] : (tensor<1000xf32>) -> tensor<3xf32>
    %e = stablehlo.dynamic_update_slice %f, %p, %i : (tensor<1000xf32>, tensor<3xf32>, tensor<i32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Written over by a loop inside.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
// CHECK: "stablehlo.while"
  %r16:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.sine %w : tensor<1000xf32>
  %q:2 = stablehlo.while(%i2 = %zero, %t = %f) : tensor<i32>, tensor<1000xf32>
  cond {
    %n2 = stablehlo.constant dense<50> : tensor<i32>
    %c2 = stablehlo.compare LT, %i2, %n2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c2 : tensor<i1>
  } do {
    %one2 = stablehlo.constant dense<1> : tensor<i32>
    %j2 = stablehlo.add %i2, %one2 : tensor<i32>
    %l = stablehlo.add %t, %s : tensor<1000xf32>
    stablehlo.return %j2, %l : tensor<i32>, tensor<1000xf32>
  }
    %e = stablehlo.reshape %q#1 : (tensor<1000xf32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Carried on.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r17:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.sine %w : tensor<1000xf32>
    stablehlo.return %j, %e : tensor<i32>, tensor<1000xf32>
  }

// Of unknown size.
// CHECK-NOT: "stablehlo.sine"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.sine"
  %r18:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.sine %dyn : tensor<?xf32>
    %d = stablehlo.get_dimension_size %f, dim = 0 : (tensor<?xf32>) -> tensor<i32>
    %h = stablehlo.convert %d : (tensor<i32>) -> tensor<f32>
    %e = stablehlo.broadcast_in_dim %h, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }

// Tokens.
// CHECK-NOT: "stablehlo.after_all"
// CHECK: "stablehlo.while"
// CHECK: }, {
// CHECK-NEXT: ^bb0
// CHECK: "stablehlo.after_all"
  %r19:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %tok = stablehlo.after_all %token : !stablehlo.token
    %of = "stablehlo.outfeed"(%w, %tok) : (tensor<1000xf32>, !stablehlo.token) -> !stablehlo.token
    %e = stablehlo.add %w, %s : tensor<1000xf32>
    %z = stablehlo.add %s, %e : tensor<1000xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<1000xf32>
  }
  return %r0#1, %r1#1, %r2#1, %r3#1, %r4#1, %r5#1, %r6#1, %r7#1, %r8#1, %r9#1, %r10#1, %r11#1, %r12#1, %r13#1, %r14#1, %r15#1, %r16#1, %r17#1, %r18#1, %r19#1 : tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
}
