// Parts that a while stacks, one place a trip, are added to what the slices before left there: no stack of zeros is made for
// each slice. Where two trips write at one place it is as with other sums: the second one's part would be added to the first's.
// RUN: %weir opt %s --tensor-size-threshold 11000 --tensor-split-size 3300 --stop-after split | FileCheck %s

// CHECK: "weir.loop"(
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i64>, {{.*}}%[[S:.*]]: tensor<5x50xf32>, %[[T:.*]]: tensor<5x50xf32>):
// CHECK: %[[R:.*]]:4 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[S]], %{{.*}})
// CHECK: %[[OLD:.*]] = "stablehlo.dynamic_slice"(%[[IN:[a-z0-9]+]], {{.*}}) <{slice_sizes = array<i64: 1, 50>}>
// CHECK: %[[NEW:.*]] = "stablehlo.add"(%[[OLD]], %{{.*}}) : (tensor<1x50xf32>
// CHECK: "stablehlo.dynamic_update_slice"(%[[IN]], %[[NEW]],
// CHECK: %[[SUM:.*]] = "stablehlo.add"(%[[T]], %[[R]]#3)
// CHECK: "weir.yield"({{.*}}%[[R]]#2, %[[SUM]]
func.func public @main(%a: tensor<401xf32>) -> (tensor<5x50xf32>, tensor<5x50xf32>, tensor<401xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<5x50xf32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<401xf32>) -> tensor<401x50xf32>
  %r:4 = stablehlo.while(%i = %zero, %y = %x, %s = %zeros, %t = %zeros) : tensor<i32>, tensor<401x50xf32>, tensor<5x50xf32>, tensor<5x50xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %more = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %o = stablehlo.constant dense<0.0> : tensor<f32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.tanh %y : tensor<401x50xf32>
    %g = stablehlo.reduce(%z init: %o) applies stablehlo.add across dimensions = [0] : (tensor<401x50xf32>, tensor<f32>) -> tensor<50xf32>
    %row = stablehlo.reshape %g : (tensor<50xf32>) -> tensor<1x50xf32>
    %s2 = stablehlo.dynamic_update_slice %s, %row, %i, %start : (tensor<5x50xf32>, tensor<1x50xf32>, tensor<i32>, tensor<i32>) -> tensor<5x50xf32>
    %t2 = stablehlo.dynamic_update_slice %t, %row, %one, %start : (tensor<5x50xf32>, tensor<1x50xf32>, tensor<i32>, tensor<i32>) -> tensor<5x50xf32>
    stablehlo.return %next, %z, %s2, %t2 : tensor<i32>, tensor<401x50xf32>, tensor<5x50xf32>, tensor<5x50xf32>
  }
  %m = stablehlo.reduce(%r#1 init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<401x50xf32>, tensor<f32>) -> tensor<401xf32>
  return %r#2, %r#3, %m : tensor<5x50xf32>, tensor<5x50xf32>, tensor<401xf32>
}
