// Where one level of segments takes too much there are segments in segments. 17 trips whose state, 40 kB, is kept for a loop
// that goes backwards; arguments and results are 120 kB.
// RUN: %weir opt %s --memory-limit 281kB | FileCheck %s --check-prefix=TWO
// RUN: %weir opt %s --memory-limit 200kB | FileCheck %s --check-prefix=ONE
// RUN: %weir opt %s --memory-limit 440kB --debug 3 2>&1 >%t | FileCheck %s --check-prefix=KEPT
// RUN: FileCheck %s --check-prefix=STACK < %t
// RUN: not %weir opt %s --memory-limit 281kB --skip checkpoint 2>&1 | FileCheck %s --check-prefix=OFF
// One that goes forwards has no use for beginning anew: it goes in slices of steps.
// RUN: sed 's/subtract %last, %i/maximum %i, %i/' %s > %t.forwards
// RUN: not %weir opt %t.forwards --memory-limit 281kB --skip steps 2>&1 | FileCheck %s --check-prefix=OFF
// OFF: RESOURCE_EXHAUSTED

// The outer segments begin from the first state, the inner ones of one trip from that of the outer.
// TWO: sym_name = "main"
// TWO: ^bb0(%[[H:.*]]: tensor<10000xf32>):
// TWO: "stablehlo.while"(%{{.*}}, %{{.*}}, %[[H]])
// TWO: %[[OUTER:.*]]:2 = "stablehlo.while"(%{{.*}}, %[[H]])
// TWO:   %[[AT:.*]]:3 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[H]])
// TWO:     "stablehlo.sine"
// TWO:   %[[INNER:.*]]:3 = "stablehlo.while"(
// TWO:     ^bb0(%{{.*}}, %[[G:[^ ]*]]: tensor<10000xf32>, %{{.*}}: tensor<i64>):
// TWO:     ^bb0(%{{.*}}, %[[G:[^ ]*]]: tensor<10000xf32>, %{{.*}}: tensor<i64>):
// TWO:     %[[STATE:.*]]:3 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[AT]]#2)
// TWO:       "stablehlo.sine"
// TWO:     "stablehlo.reshape"(%[[STATE]]#2)
// TWO:     "stablehlo.multiply"(%[[G]],
// TWO-NOT: stablehlo.while
// TWO-NOT: dynamic_update_slice
// TWO: return

// ONE: sym_name = "main"
// ONE: ^bb0(%[[H:.*]]: tensor<10000xf32>):
// ONE: "stablehlo.while"(%{{.*}}, %[[H]])
// ONE: "stablehlo.while"(%{{.*}}, %[[H]])
// ONE:   dense<17> : tensor<i64>
// ONE:   "stablehlo.while"(%{{.*}}, %{{.*}}, %[[H]])
// ONE-NOT: stablehlo.while
// ONE-NOT: dynamic_update_slice
// ONE: func.return

// KEPT: segments in segments
// KEPT: checkpoint a while: 17 trips, 6 a segment, 3 levels
// STACK: "stablehlo.dynamic_update_slice"({{.*}} -> tensor<3x10000xf32>
// STACK: "stablehlo.dynamic_slice"({{.*}} -> tensor<1x10000xf32>
func.func public @main(%h: tensor<10000xf32>) -> (tensor<10000xf32>, tensor<10000xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<17x10000xf32>
  %r:3 = stablehlo.while(%i = %zero, %s = %h, %all = %none) : tensor<i32>, tensor<10000xf32>, tensor<17x10000xf32>
  cond {
    %end = stablehlo.constant dense<17> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.reshape %s : (tensor<10000xf32>) -> tensor<1x10000xf32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %more = stablehlo.dynamic_update_slice %all, %row, %i, %o : (tensor<17x10000xf32>, tensor<1x10000xf32>, tensor<i32>, tensor<i32>) -> tensor<17x10000xf32>
    %t = stablehlo.reverse %s, dims = [0] : tensor<10000xf32>
    %u = stablehlo.sine %t : tensor<10000xf32>
    stablehlo.return %next, %u, %more : tensor<i32>, tensor<10000xf32>, tensor<17x10000xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %h, %all = %r#2) : tensor<i32>, tensor<10000xf32>, tensor<17x10000xf32>
  cond {
    %end = stablehlo.constant dense<17> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<16> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %all, %at, %o, sizes = [1, 10000] : (tensor<17x10000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x10000xf32>
    %s = stablehlo.reshape %row : (tensor<1x10000xf32>) -> tensor<10000xf32>
    %v = stablehlo.reverse %s, dims = [0] : tensor<10000xf32>
    %w = stablehlo.multiply %g, %v : tensor<10000xf32>
    stablehlo.return %next, %w, %all : tensor<i32>, tensor<10000xf32>, tensor<17x10000xf32>
  }
  return %r#1, %b#1 : tensor<10000xf32>, tensor<10000xf32>
}
