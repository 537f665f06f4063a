// A sort along the sliced dimension, whose neighbours are compared: a trip has the elements of the
// next ranks, the first of all that come after the last one. Each slice is read once, by the sort:
// what the trips before have had is left out of the sort's results.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: "weir.loop"(%{{.*}} <{scratch = -1 : i64}>
// CHECK-NEXT: ^bb0(%[[START:.*]]: tensor<i64>, %{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<64xi32>, {{.*}}%[[C:[a-z0-9]+]]: tensor<12xi32>, %[[P:[a-z0-9]+]]: tensor<12xi32>
// CHECK: %[[FAR:.*]] = "stablehlo.dynamic_slice"(%[[C]], %{{.*}}) <{slice_sizes = array<i64: 1>}>
// CHECK: %[[LAST:.*]] = "stablehlo.slice"(%[[FAR]])
// CHECK: %[[FIRST:.*]]:3 = "stablehlo.while"
// CHECK: %[[PART:.*]] = "stablehlo.dynamic_slice"(%[[X]], %{{.*}}) <{slice_sizes = array<i64: 11>}>
// CHECK: %[[PLACES:.*]] = "stablehlo.select"
// CHECK-NOT: compare"({{.*}}%[[PART]]
// CHECK: %[[KEYS:.*]] = "stablehlo.concatenate"(%[[BEST:[a-z0-9]+]], %[[PART]])
// CHECK-NOT: %[[PART]]
// CHECK: %[[AT:.*]] = "stablehlo.concatenate"(%{{.*}}, %[[PLACES]])
// CHECK: %[[BOTH:.*]]:2 = "stablehlo.sort"(%[[KEYS]], %[[AT]]) <{dimension = 0 : i64, is_stable = true}>
// CHECK-NEXT: ^bb0(%[[L:[a-z0-9]+]]: tensor<i32>, %[[R:[a-z0-9]+]]: tensor<i32>, %[[LP:[a-z0-9]+]]: tensor<i32>, %[[RP:[a-z0-9]+]]: tensor<i32>)
// CHECK: %[[BEFORE:.*]] = "stablehlo.compare"(%[[L]], %[[R]])
// CHECK: %[[COUNTS:.*]] = "stablehlo.compare"(%[[LP]], %[[NONE:[a-z0-9]+]]) {{.*}}comparison_direction NE
// CHECK: %[[OTHER:.*]] = "stablehlo.compare"(%[[RP]], %[[NONE]]) {{.*}}comparison_direction EQ
// CHECK: %[[OR:.*]] = "stablehlo.or"(%[[OTHER]], %[[BEFORE]])
// CHECK: "stablehlo.and"(%[[COUNTS]], %[[OR]])
// CHECK: "stablehlo.slice"(%[[BOTH]]#0) <{limit_indices = array<i64: 22>, start_indices = array<i64: 0>, strides = array<i64: 5>}>
// CHECK: "stablehlo.dynamic_slice"(%[[BOTH]]#0, {{.*}}slice_sizes = array<i64: 5>
// CHECK: "stablehlo.dynamic_slice"(%[[BOTH]]#0, {{.*}}slice_sizes = array<i64: 11>
// CHECK: "stablehlo.dynamic_slice"(%[[BOTH]]#1, {{.*}}slice_sizes = array<i64: 11>
// CHECK: %[[NEXT:.*]] = "stablehlo.concatenate"(%[[FAR]], %[[FIRST]]#1)
// CHECK: "stablehlo.slice"(%[[NEXT]]) <{limit_indices = array<i64: 11>, start_indices = array<i64: 0>
// CHECK-NOT: tensor<64xi32>) -> tensor<64xi32>
func.func public @main(%x: tensor<64xi32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %o = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %l = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<64xi32>) -> tensor<64xi32>
  %p = stablehlo.slice %o [1:64] : (tensor<64xi32>) -> tensor<63xi32>
  %q = stablehlo.slice %o [0:63] : (tensor<64xi32>) -> tensor<63xi32>
  %n = stablehlo.compare NE, %p, %q, SIGNED : (tensor<63xi32>, tensor<63xi32>) -> tensor<63xi1>
  %c = stablehlo.convert %n : (tensor<63xi1>) -> tensor<63xi32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<63xi32>, tensor<i32>) -> tensor<i32>
  return %s : tensor<i32>
}
