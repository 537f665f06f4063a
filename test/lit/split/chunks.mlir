// A scan whose gates are made for all steps at once is made in slices of its steps: each trip makes the gates of its
// slice, runs the steps over it from the state that the trip before left, and sums what they stack.
// RUN: %weir opt %s --memory-limit 80kB | FileCheck %s
// RUN: not %weir opt %s --memory-limit 80kB --skip steps 2>&1 | FileCheck %s --check-prefix=OFF
// Slices do not divide a prime number of steps: the last one begins before the others end, and its first steps are
// those that were not made.
// RUN: sed 's/1000/1009/g' %s > %t.prime
// RUN: %weir opt %t.prime --memory-limit 80kB | FileCheck %s --check-prefix=PRIME
// From the last step to the first.
// RUN: sed 's/add %i, %low/subtract %last, %i/' %s > %t.backward
// RUN: %weir opt %t.backward --memory-limit 80kB | FileCheck %s --check-prefix=BACK
// A number of steps that is data is left alone.
// RUN: sed 's/compare LT, %i, %end/compare LT, %i, %n/' %s > %t.data
// RUN: not %weir opt %t.data --memory-limit 80kB 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: RESOURCE_EXHAUSTED

// CHECK-NOT: 1000x32
// CHECK: %[[OUT:.*]]:3 = "stablehlo.while"(%{{[^ ]*}}, %[[H0:[^ ,]*]], %{{[^ ]*}}) ({
// CHECK: ^bb0(%[[TRIP:.*]]: tensor<i64>, %[[H:.*]]: tensor<32xf32>, %{{.*}}: tensor<f32>):
// CHECK: ^bb0(%[[TRIP:.*]]: tensor<i64>, %[[H:.*]]: tensor<32xf32>, %[[SUM:.*]]: tensor<f32>):
// CHECK:   "stablehlo.dot_general"({{.*}}) -> tensor<[[L:[0-9]+]]x32xf32>
// CHECK:   %[[STEPS:.*]]:4 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[H]], %{{.*}}) ({
// CHECK:     dense<[[L]]> : tensor<i64>
// CHECK:     "stablehlo.dynamic_slice"({{.*}}) -> tensor<1x32xf32>
// CHECK:     "stablehlo.dynamic_update_slice"({{.*}}) : (tensor<[[L]]x32xf32>
// CHECK:   "stablehlo.reduce"
// CHECK:   "stablehlo.return"(%{{.*}}, %[[STEPS]]#2, %{{.*}})
// CHECK: "stablehlo.reduce"(%[[OUT]]#1
// CHECK: func.return

// PRIME: %[[OUT:.*]]:4 = "stablehlo.while"
// PRIME:   "stablehlo.dot_general"
// PRIME:   %[[FIRST:.*]]:5 = "stablehlo.while"
// PRIME:   %[[REST:.*]]:4 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[FIRST]]#2, %[[FIRST]]#3)
// PRIME:   "stablehlo.return"(%{{.*}}, %[[FIRST]]#2, %[[REST]]#2, %{{.*}})
// PRIME: func.return

// BACK-NOT: 1000x32
// BACK: %[[OUT:.*]]:3 = "stablehlo.while"
// BACK:   "stablehlo.dot_general"
// BACK:   %{{.*}}:4 = "stablehlo.while"
// BACK:     ^bb0(%{{[^ ]*}}: tensor<i64>, %[[PLACE:[^ ]*]]: tensor<i64>, %{{[^ ]*}}: tensor<32xf32>, %{{.*}}):
// BACK:     ^bb0(%{{[^ ]*}}: tensor<i64>, %[[PLACE:[^ ]*]]: tensor<i64>, %{{[^ ]*}}: tensor<32xf32>, %{{.*}}):
// BACK:     "stablehlo.subtract"(%[[PLACE]],
// BACK: func.return
func.func public @main(%x: tensor<1000x8xf32>, %w: tensor<8x32xf32>, %u: tensor<32x32xf32>, %n: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
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
  %y = stablehlo.multiply %r#2, %r#2 : tensor<1000x32xf32>
  %total = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1000x32xf32>, tensor<f32>) -> tensor<f32>
  %end_state = stablehlo.reduce(%r#1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32xf32>, tensor<f32>) -> tensor<f32>
  return %total, %end_state : tensor<f32>, tensor<f32>
}
