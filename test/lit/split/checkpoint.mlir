// A loop that stacks its state for one that reads it from the end: the first keeps the state of every segment, the second
// runs each segment once more. 17 trips: 4, 4, 4, 4 and 1.
// RUN: %weir opt %s --tensor-size-threshold 2000 --stop-after split | FileCheck %s
// RUN: sed 's/LT, %i, %end/GE, %end, %i/; s/%end = stablehlo.constant dense<17>/%end = stablehlo.constant dense<16>/' %s | %weir opt - --tensor-size-threshold 2000 --stop-after split | FileCheck %s
// RUN: sed 's/i32>/ui8>/g; s/17/200/g; s/dense<16>/dense<199>/' %s | %weir opt - --tensor-size-threshold 2000 --stop-after split | FileCheck %s --check-prefix=NARROW
// RUN: %weir opt %s --tensor-size-threshold 2000 --skip checkpoint --stop-after split | FileCheck %s --check-prefix=OFF

// OFF: tensor<17x100xf32>

// A counter that just does not wrap around: 200 trips in ui8.
// NARROW: "stablehlo.while"
// NARROW-NOT: tensor<200x100xf32>

// CHECK-LABEL: sym_name = "main"
// CHECK: %[[F:.*]]:4 = "stablehlo.while"(%{{.*}}) ({
// CHECK:   "stablehlo.constant"() <{value = dense<[[N:[0-9]+]]> : tensor<i64>}>
// CHECK:   ^bb0(%[[G:.*]]: tensor<i64>, %[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<100xf32>, %[[C:.*]]: tensor<[[N]]x100xf32>):
// CHECK-DAG: %[[LOW:.*]] = "stablehlo.multiply"(%[[G]],
// CHECK-DAG: "stablehlo.minimum"
// CHECK-DAG: %[[ROW:.*]] = "stablehlo.reshape"(%[[H]]) : (tensor<100xf32>) -> tensor<1x100xf32>
// CHECK-DAG: "stablehlo.dynamic_update_slice"(%[[C]], %[[ROW]], %[[G]],
// CHECK:   "stablehlo.while"(%[[I]], %[[H]], %{{.*}}) ({
// CHECK:     "stablehlo.sine"
// CHECK-NOT: dynamic_update_slice
// The second loop's segments go from the last to the first.
// CHECK: "stablehlo.while"(
// CHECK:   "stablehlo.subtract"
// CHECK:   "stablehlo.dynamic_slice"(%[[F]]#3,
// CHECK:   "stablehlo.while"(
// CHECK:     "stablehlo.sine"
// CHECK:     "stablehlo.dynamic_update_slice"({{.*}}) : (tensor<[[L:[0-9]+]]x100xf32>, tensor<1x100xf32>,
// CHECK:   "stablehlo.while"(
// CHECK:     "stablehlo.dynamic_slice"({{.*}}) <{slice_sizes = array<i64: 1, 100>}> : (tensor<[[L]]x100xf32>,
// CHECK-NOT: tensor<17x100xf32>
func.func public @main(%h: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<17x100xf32>
  %r:3 = stablehlo.while(%i = %zero, %s = %h, %all = %none) : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
  cond {
    %end = stablehlo.constant dense<17> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.reshape %s : (tensor<100xf32>) -> tensor<1x100xf32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %more = stablehlo.dynamic_update_slice %all, %row, %i, %o : (tensor<17x100xf32>, tensor<1x100xf32>, tensor<i32>, tensor<i32>) -> tensor<17x100xf32>
    %t = stablehlo.reverse %s, dims = [0] : tensor<100xf32>
    %u = stablehlo.sine %t : tensor<100xf32>
    stablehlo.return %next, %u, %more : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %h, %all = %r#2) : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
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
    %row = stablehlo.dynamic_slice %all, %at, %o, sizes = [1, 100] : (tensor<17x100xf32>, tensor<i32>, tensor<i32>) -> tensor<1x100xf32>
    %s = stablehlo.reshape %row : (tensor<1x100xf32>) -> tensor<100xf32>
    %v = stablehlo.reverse %s, dims = [0] : tensor<100xf32>
    %w = stablehlo.multiply %g, %v : tensor<100xf32>
    stablehlo.return %next, %w, %all : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
  }
  return %r#1, %b#1 : tensor<100xf32>, tensor<100xf32>
}
