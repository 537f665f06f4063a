// States that change places (leapfrog): the loop that writes what is next of the one writes it as it was over the other.
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 200 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 200 --tile on --machine x86-64-v3 | FileCheck %s --check-prefix=KERNEL

// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<60x8xf32>, %{{.*}}: tensor<60x8xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %[[U:[a-z0-9]+]]: tensor<60x8xf32>, %[[V:[a-z0-9]+]]: tensor<60x8xf32>):
// CHECK:      %[[BOTH:[0-9]+]]:3 = "stablehlo.while"(%{{[0-9]+}}, %[[U]], %[[V]])
// CHECK-NOT:  stablehlo.while
// CHECK:      "stablehlo.return"(%{{[0-9]+}}, %[[BOTH]]#1, %[[BOTH]]#2)

// Where no state is written over they change places as they did.
// KERNEL:     ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<60x8xf32>, %{{.*}}: tensor<60x8xf32>):
// KERNEL:     ^bb0(%{{.*}}: tensor<i32>, %[[U:[a-z0-9]+]]: tensor<60x8xf32>, %{{.*}}: tensor<60x8xf32>):
// KERNEL:     "stablehlo.return"(%{{[0-9]+}}, %{{[0-9]+}}#0, %[[U]])

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
    %s = stablehlo.add %below, %u : tensor<60x8xf32>
    %t = stablehlo.tanh %s : tensor<60x8xf32>
    %w = stablehlo.subtract %t, %v : tensor<60x8xf32>
    stablehlo.return %next, %w, %u : tensor<i32>, tensor<60x8xf32>, tensor<60x8xf32>
  }) : (tensor<i32>, tensor<60x8xf32>, tensor<60x8xf32>) -> (tensor<i32>, tensor<60x8xf32>, tensor<60x8xf32>)
  return %r#1, %r#2 : tensor<60x8xf32>, tensor<60x8xf32>
}
