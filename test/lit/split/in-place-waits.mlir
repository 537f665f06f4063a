// A sum of the state as it was is kept of each step. The loop that writes over the state does not depend on the loop that
// sums it up, so it is made to wait: the state comes out of a call of both.
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 200 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 200 --platform cuda | FileCheck %s --check-prefix=DEVICE

// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<60x8xf32>, %{{.*}}: tensor<f32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %[[X:[a-z0-9]+]]: tensor<60x8xf32>, %{{.*}}: tensor<f32>):
// CHECK:      %[[SUM:[0-9]+]]:2 = "stablehlo.while"
// CHECK:      %[[AFTER:[0-9]+]] = "func.call"(%[[X]], %[[SUM]]#1)
// CHECK-SAME: inlineable = "false"
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %[[AFTER]],

// No such calls there.
// DEVICE-NOT: func.call

func.func public @main(%x: tensor<60x8xf32>) -> (tensor<60x8xf32>, tensor<f32>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r:3 = "stablehlo.while"(%i, %x, %zero) ({
  ^bb0(%n: tensor<i32>, %u: tensor<60x8xf32>, %k: tensor<f32>):
    %most = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %n, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%n: tensor<i32>, %u: tensor<60x8xf32>, %k: tensor<f32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %square = stablehlo.multiply %u, %u : tensor<60x8xf32>
    %s = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<60x8xf32>, tensor<f32>) -> tensor<f32>
    %sum = stablehlo.add %k, %s : tensor<f32>
    %others = stablehlo.slice %u [1:60, 0:8] : (tensor<60x8xf32>) -> tensor<59x8xf32>
    %below = stablehlo.pad %others, %zero, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<59x8xf32>, tensor<f32>) -> tensor<60x8xf32>
    %but = stablehlo.slice %u [0:59, 0:8] : (tensor<60x8xf32>) -> tensor<59x8xf32>
    %above = stablehlo.pad %but, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<59x8xf32>, tensor<f32>) -> tensor<60x8xf32>
    %t = stablehlo.add %below, %above : tensor<60x8xf32>
    %v = stablehlo.tanh %t : tensor<60x8xf32>
    stablehlo.return %next, %v, %sum : tensor<i32>, tensor<60x8xf32>, tensor<f32>
  }) : (tensor<i32>, tensor<60x8xf32>, tensor<f32>) -> (tensor<i32>, tensor<60x8xf32>, tensor<f32>)
  return %r#1, %r#2 : tensor<60x8xf32>, tensor<f32>
}
