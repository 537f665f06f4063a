// The way back reads what the scan keeps of its steps in the opposite direction. So the scan is made in two passes: the
// first keeps the state of every L steps alone, of gates of its own; the second makes the steps of a slice once more from
// such a state, in the loop over slices that goes back.
// RUN: %weir opt %s --memory-limit 80kB --debug 3 2>&1 | FileCheck %s
// RUN: not %weir opt %s --memory-limit 80kB --skip steps 2>&1 | FileCheck %s --check-prefix=OFF
// The last slice of a prime number of steps has fewer.
// RUN: sed 's/1000/1009/g' %s > %t.prime
// RUN: %weir opt %t.prime --memory-limit 90kB --debug 3 2>&1 | FileCheck %s --check-prefix=PRIME
// OFF: RESOURCE_EXHAUSTED

// CHECK: 1 scans in two passes, the second from states every [[L:[0-9]+]] steps
// CHECK: sym_name = "main"
// CHECK-NOT: 1000x32
// CHECK: %[[FIRST:.*]]:{{.*}} = "stablehlo.while"
// CHECK:   "stablehlo.dot_general"
// CHECK:   "stablehlo.while"
// CHECK-NOT: 1000x32
// CHECK: "stablehlo.concatenate"
// CHECK: "stablehlo.while"
// CHECK:   "stablehlo.dot_general"
// CHECK:   "stablehlo.while"
// CHECK:     "stablehlo.remainder"
// CHECK:     "stablehlo.select"
// CHECK:   "stablehlo.while"
// CHECK:   "stablehlo.dot_general"
// CHECK-NOT: 1000x32
// CHECK: func.return

// PRIME: 1 scans in two passes
// PRIME: sym_name = "main"
// PRIME-NOT: 1009x32
// PRIME: func.return
func.func public @main(%x: tensor<1000x8xf32>, %w: tensor<8x32xf32>, %u: tensor<32x32xf32>, %n: tensor<i32>) -> (tensor<8x32xf32>, tensor<32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1000x8xf32>, tensor<8x32xf32>) -> tensor<1000x32xf32>
  %a = stablehlo.logistic %z : tensor<1000x32xf32>
  %c = stablehlo.sine %z : tensor<1000x32xf32>
  %h0 = stablehlo.constant dense<0.5> : tensor<32xf32>
  %s0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1000x32xf32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %r:6 = stablehlo.while(%i = %i0, %h = %h0, %s = %s0, %xa = %a, %xb = %c, %xu = %u) : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    cond {
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %low = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %last = stablehlo.subtract %end, %one : tensor<i32>
      %at = stablehlo.add %i, %low : tensor<i32>
      %ea = stablehlo.dynamic_slice %xa, %at, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %eb = stablehlo.dynamic_slice %xb, %at, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %ra = stablehlo.reshape %ea : (tensor<1x32xf32>) -> tensor<32xf32>
      %rb = stablehlo.reshape %eb : (tensor<1x32xf32>) -> tensor<32xf32>
      %m = stablehlo.multiply %ra, %h : tensor<32xf32>
      %p = stablehlo.dot_general %m, %xu, contracting_dims = [0] x [0] : (tensor<32xf32>, tensor<32x32xf32>) -> tensor<32xf32>
      %next = stablehlo.add %p, %rb : tensor<32xf32>
      %row = stablehlo.reshape %next : (tensor<32xf32>) -> tensor<1x32xf32>
      %stack = stablehlo.dynamic_update_slice %s, %row, %at, %low : (tensor<1000x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x32xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %stack, %xa, %xb, %xu : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<32x32xf32>
    }
  %g0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<32xf32>
  %b:5 = stablehlo.while(%i = %i0, %g = %g0, %s = %s0, %xa = %a, %xh = %r#2) : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>
    cond {
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %low = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<1000> : tensor<i32>
      %last = stablehlo.subtract %end, %one : tensor<i32>
      %at = stablehlo.subtract %last, %i : tensor<i32>
      %ea = stablehlo.dynamic_slice %xa, %at, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %eh = stablehlo.dynamic_slice %xh, %at, %low, sizes = [1, 32] : (tensor<1000x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
      %ra = stablehlo.reshape %ea : (tensor<1x32xf32>) -> tensor<32xf32>
      %rh = stablehlo.reshape %eh : (tensor<1x32xf32>) -> tensor<32xf32>
      %p = stablehlo.multiply %ra, %g : tensor<32xf32>
      %next = stablehlo.add %p, %rh : tensor<32xf32>
      %row = stablehlo.reshape %next : (tensor<32xf32>) -> tensor<1x32xf32>
      %stack = stablehlo.dynamic_update_slice %s, %row, %at, %low : (tensor<1000x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1000x32xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next, %stack, %xa, %xh : tensor<i32>, tensor<32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>, tensor<1000x32xf32>
    }
  %dw = stablehlo.dot_general %x, %b#2, contracting_dims = [0] x [0] : (tensor<1000x8xf32>, tensor<1000x32xf32>) -> tensor<8x32xf32>
  return %dw, %r#1 : tensor<8x32xf32>, tensor<32xf32>
}
