// Two states that see each other as they were: one loop writes over both. What is next of %v is not made of %v, so it waits
// until all that trips read of that is read.
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 200 | FileCheck %s

// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<60x8xf32>, %{{.*}}: tensor<60x8xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %[[U:[a-z0-9]+]]: tensor<60x8xf32>, %[[V:[a-z0-9]+]]: tensor<60x8xf32>):
// CHECK:      %[[BOTH:[0-9]+]]:4 = "stablehlo.while"(%{{[0-9]+}}, %[[U]], %[[V]], %[[NONE:[0-9]+]])
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<60x8xf32>, %{{.*}}: tensor<60x8xf32>, %{{.*}}: tensor<1x8xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<60x8xf32>, %[[Y:[a-z0-9]+]]: tensor<60x8xf32>, %[[OLD:[a-z0-9]+]]: tensor<1x8xf32>):
// CHECK:      %[[ALL:[0-9]+]] = "stablehlo.concatenate"(%[[OLD]],
// CHECK-NEXT: %[[READ:[0-9]+]] = "func.call"(%[[ALL]])
// CHECK:      %[[AFTER:[0-9]+]] = "func.call"(%{{[0-9]+}}, %[[READ]])
// CHECK:      "stablehlo.dynamic_update_slice"(%[[Y]], %[[AFTER]],
// CHECK-NOT:  stablehlo.while
// CHECK:      "stablehlo.return"(%{{[0-9]+}}, %[[BOTH]]#1, %[[BOTH]]#2)

func.func public @main(%x: tensor<60x8xf32>, %y: tensor<60x8xf32>) -> (tensor<60x8xf32>, tensor<60x8xf32>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = "stablehlo.while"(%i, %x, %y) ({
  ^bb0(%n: tensor<i32>, %u: tensor<60x8xf32>, %v: tensor<60x8xf32>):
    %most = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %n, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%n: tensor<i32>, %u: tensor<60x8xf32>, %v: tensor<60x8xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %first = stablehlo.slice %u [0:1, 0:8] : (tensor<60x8xf32>) -> tensor<1x8xf32>
    %others = stablehlo.slice %u [1:60, 0:8] : (tensor<60x8xf32>) -> tensor<59x8xf32>
    %below = stablehlo.concatenate %others, %first, dim = 0 : (tensor<59x8xf32>, tensor<1x8xf32>) -> tensor<60x8xf32>
    %s = stablehlo.tanh %below : tensor<60x8xf32>
    %last = stablehlo.slice %v [0:60, 7:8] : (tensor<60x8xf32>) -> tensor<60x1xf32>
    %but = stablehlo.slice %v [0:60, 0:7] : (tensor<60x8xf32>) -> tensor<60x7xf32>
    %left = stablehlo.concatenate %last, %but, dim = 1 : (tensor<60x1xf32>, tensor<60x7xf32>) -> tensor<60x8xf32>
    %end = stablehlo.slice %v [59:60, 0:8] : (tensor<60x8xf32>) -> tensor<1x8xf32>
    %upper = stablehlo.slice %v [0:59, 0:8] : (tensor<60x8xf32>) -> tensor<59x8xf32>
    %above = stablehlo.concatenate %end, %upper, dim = 0 : (tensor<1x8xf32>, tensor<59x8xf32>) -> tensor<60x8xf32>
    %both = stablehlo.add %left, %above : tensor<60x8xf32>
    %t = stablehlo.add %u, %both : tensor<60x8xf32>
    stablehlo.return %next, %t, %s : tensor<i32>, tensor<60x8xf32>, tensor<60x8xf32>
  }) : (tensor<i32>, tensor<60x8xf32>, tensor<60x8xf32>) -> (tensor<i32>, tensor<60x8xf32>, tensor<60x8xf32>)
  return %r#1, %r#2 : tensor<60x8xf32>, tensor<60x8xf32>
}
