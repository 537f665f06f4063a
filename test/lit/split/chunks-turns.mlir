// Scans of both directions side by side, each read back in the opposite one: three loops over slices. The first goes
// forward and keeps states of %f alone; the second goes backward, makes %f again from these, %r and %b, and keeps states
// of %r; the third goes forward once more, for %c.
// RUN: %weir opt %s --memory-limit 110kB --debug 3 2>&1 | FileCheck %s
// RUN: not %weir opt %s --memory-limit 110kB --skip steps 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: RESOURCE_EXHAUSTED

// Nor where both directions read what an op with effects makes, which no other phase may run once more.
// RUN: sed 's/^  %z = \(.*\)/%made = \1\n%z = stablehlo.custom_call @heard(%made) {has_side_effect = true} : (tensor<1000x32xf32>) -> tensor<1000x32xf32>/' %s > %t
// RUN: not %weir opt %t --memory-limit 500kB 2>&1 | FileCheck %s --check-prefix=OFF

// CHECK: 2 scans in two passes, the second from states every [[L:[0-9]+]] steps; 3 phases
// CHECK: sym_name = "main"
// CHECK-NOT: 1000x32
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.concatenate"
// CHECK: "stablehlo.while"
// CHECK:     "stablehlo.remainder"
// CHECK: "stablehlo.concatenate"
// CHECK: "stablehlo.while"
// CHECK:     "stablehlo.remainder"
// CHECK-NOT: 1000x32
// CHECK: func.return
func.func public @main(%x: tensor<1000x8xf32>, %w: tensor<8x32xf32>, %u: tensor<32x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %h0 = stablehlo.constant dense<0.5> : tensor<32xf32>
  %s0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1000x32xf32>
  %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x32xf32>) -> tensor<1000x32xf32>
  %f:5 = stablehlo.while(%i = %i0, %h = %h0, %s = %s0, %x0 = %z, %xu = %u) : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    cond {
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %low = stablehlo.constant dense<0> : tensor<i32>
      %e0 = stablehlo.dynamic_slice %x0, %i, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %r0 = stablehlo.reshape %e0 : (tensor<1x32xf32>) -> tensor<32xf32>
      %m0 = stablehlo.multiply %r0, %h : tensor<32xf32>
      %p = stablehlo.dot_general %m0, %xu, contracting_dims = [0] x [0] : (tensor<32xf32>, tensor<32x32xf32>) -> tensor<32xf32>
      %next = stablehlo.tanh %p : tensor<32xf32>
      %row = stablehlo.reshape %next : (tensor<32xf32>) -> tensor<1x32xf32>
      %stack = stablehlo.dynamic_update_slice %s, %row, %i, %low : (tensor<1000x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x32xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %stack, %x0, %xu : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    }
  %r:5 = stablehlo.while(%i = %i0, %h = %h0, %s = %s0, %x0 = %z, %xu = %u) : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    cond {
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %low = stablehlo.constant dense<0> : tensor<i32>
      %last = stablehlo.constant dense<999> : tensor<i32>
      %at = stablehlo.subtract %last, %i : tensor<i32>
      %e0 = stablehlo.dynamic_slice %x0, %at, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %r0 = stablehlo.reshape %e0 : (tensor<1x32xf32>) -> tensor<32xf32>
      %m0 = stablehlo.multiply %r0, %h : tensor<32xf32>
      %p = stablehlo.dot_general %m0, %xu, contracting_dims = [0] x [0] : (tensor<32xf32>, tensor<32x32xf32>) -> tensor<32xf32>
      %next = stablehlo.tanh %p : tensor<32xf32>
      %row = stablehlo.reshape %next : (tensor<32xf32>) -> tensor<1x32xf32>
      %stack = stablehlo.dynamic_update_slice %s, %row, %at, %low : (tensor<1000x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x32xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %stack, %x0, %xu : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    }
  %y = stablehlo.multiply %f#2, %r#2 : tensor<1000x32xf32>
  %b:6 = stablehlo.while(%i = %i0, %h = %h0, %s = %s0, %x0 = %f#2, %x1 = %y, %xu = %u) : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    cond {
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %low = stablehlo.constant dense<0> : tensor<i32>
      %last = stablehlo.constant dense<999> : tensor<i32>
      %at = stablehlo.subtract %last, %i : tensor<i32>
      %e0 = stablehlo.dynamic_slice %x0, %at, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %r0 = stablehlo.reshape %e0 : (tensor<1x32xf32>) -> tensor<32xf32>
      %m0 = stablehlo.multiply %r0, %h : tensor<32xf32>
      %e1 = stablehlo.dynamic_slice %x1, %at, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %r1 = stablehlo.reshape %e1 : (tensor<1x32xf32>) -> tensor<32xf32>
      %m1 = stablehlo.add %r1, %m0 : tensor<32xf32>
      %p = stablehlo.dot_general %m1, %xu, contracting_dims = [0] x [0] : (tensor<32xf32>, tensor<32x32xf32>) -> tensor<32xf32>
      %next = stablehlo.tanh %p : tensor<32xf32>
      %row = stablehlo.reshape %next : (tensor<32xf32>) -> tensor<1x32xf32>
      %stack = stablehlo.dynamic_update_slice %s, %row, %at, %low : (tensor<1000x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x32xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %stack, %x0, %x1, %xu : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    }
  %c:6 = stablehlo.while(%i = %i0, %h = %h0, %s = %s0, %x0 = %r#2, %x1 = %y, %xu = %u) : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    cond {
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %low = stablehlo.constant dense<0> : tensor<i32>
      %e0 = stablehlo.dynamic_slice %x0, %i, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %r0 = stablehlo.reshape %e0 : (tensor<1x32xf32>) -> tensor<32xf32>
      %m0 = stablehlo.multiply %r0, %h : tensor<32xf32>
      %e1 = stablehlo.dynamic_slice %x1, %i, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %r1 = stablehlo.reshape %e1 : (tensor<1x32xf32>) -> tensor<32xf32>
      %m1 = stablehlo.add %r1, %m0 : tensor<32xf32>
      %p = stablehlo.dot_general %m1, %xu, contracting_dims = [0] x [0] : (tensor<32xf32>, tensor<32x32xf32>) -> tensor<32xf32>
      %next = stablehlo.tanh %p : tensor<32xf32>
      %row = stablehlo.reshape %next : (tensor<32xf32>) -> tensor<1x32xf32>
      %stack = stablehlo.dynamic_update_slice %s, %row, %i, %low : (tensor<1000x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x32xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %stack, %x0, %x1, %xu : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    }
  %db = stablehlo.dot_general %x, %b#2, contracting_dims = [0] x [0] : (tensor<1000x8xf32>, tensor<1000x32xf32>) -> tensor<8x32xf32>
  %dc = stablehlo.dot_general %x, %c#2, contracting_dims = [0] x [0] : (tensor<1000x8xf32>, tensor<1000x32xf32>) -> tensor<8x32xf32>
  return %db, %dc : tensor<8x32xf32>, tensor<8x32xf32>
}
