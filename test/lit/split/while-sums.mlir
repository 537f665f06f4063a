// A while that is sliced in one carry and summed in others. %w goes on from slice to slice with parts added; %s begins with
// zeros in each slice and is added up; 401 rows in slices that don't divide them, so what was counted before is masked.
// RUN: %weir opt %s --tensor-size-threshold 11000 --tensor-split-size 3300 --stop-after split | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 11000 --tensor-split-size 3300 | FileCheck %s --check-prefix=WHOLE

// WHOLE-NOT: -> tensor<401x50xf32>

// CHECK-LABEL: sym_name = "main"
// CHECK: "weir.loop"(
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i64>, {{.*}}%[[W:.*]]: tensor<50x50xf32>, %[[S:.*]]: tensor<50xf32>):
// CHECK: %[[R:.*]]:4 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[W]], %{{.*}})
// CHECK: "stablehlo.select"
// CHECK: "stablehlo.dot_general"({{.*}} : (tensor<[[N:[0-9]+]]x50xf32>, tensor<[[N]]x50xf32>) -> tensor<50x50xf32>
// CHECK: "stablehlo.reduce"({{.*}}) <{dimensions = array<i64: 0>}>
// CHECK: }) : (tensor<i32>, tensor<[[N]]x50xf32>, tensor<50x50xf32>, tensor<50xf32>)
// CHECK: %[[SUM:.*]] = "stablehlo.add"(%[[S]], %[[R]]#3)
// CHECK: "weir.yield"({{.*}}%[[R]]#2, %[[SUM]],
func.func public @main(%a: tensor<401xf32>, %b: tensor<50x50xf32>) -> (tensor<50x50xf32>, tensor<50xf32>, tensor<401xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<50xf32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<401xf32>) -> tensor<401x50xf32>
  %r:4 = stablehlo.while(%i = %zero, %y = %x, %w = %b, %s = %zeros) : tensor<i32>, tensor<401x50xf32>, tensor<50x50xf32>, tensor<50xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %more = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %o = stablehlo.constant dense<0.0> : tensor<f32>
    %half = stablehlo.constant dense<0.5> : tensor<50xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.tanh %y : tensor<401x50xf32>
    %g = stablehlo.dot_general %y, %z, contracting_dims = [0] x [0] : (tensor<401x50xf32>, tensor<401x50xf32>) -> tensor<50x50xf32>
    %w2 = stablehlo.add %w, %g : tensor<50x50xf32>
    %t = stablehlo.reduce(%z init: %o) applies stablehlo.add across dimensions = [0] : (tensor<401x50xf32>, tensor<f32>) -> tensor<50xf32>
    %u = stablehlo.multiply %s, %half : tensor<50xf32>
    %s2 = stablehlo.subtract %u, %t : tensor<50xf32>
    stablehlo.return %next, %z, %w2, %s2 : tensor<i32>, tensor<401x50xf32>, tensor<50x50xf32>, tensor<50xf32>
  }
  %m = stablehlo.reduce(%r#1 init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<401x50xf32>, tensor<f32>) -> tensor<401xf32>
  return %r#2, %r#3, %m : tensor<50x50xf32>, tensor<50xf32>, tensor<401xf32>
}
