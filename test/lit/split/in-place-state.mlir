// A step of a while whose next state is made of the state and of a sum of it: the loop's slices lie where the state did,
// of matrices and of vectors. A slice is kept before it is written over.
// RUN: %weir opt %s --tensor-size-threshold 200 --tensor-split-size 100 | FileCheck %s

// CHECK:      "stablehlo.while"
// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %[[X:[a-z0-9]+]]: tensor<60x4xf32>, %[[V:[a-z0-9]+]]: tensor<60xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %[[X:[a-z0-9]+]]: tensor<60x4xf32>, %[[V:[a-z0-9]+]]: tensor<60xf32>):
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %[[X]], %[[V]])
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[Y:[a-z0-9]+]]: tensor<60x4xf32>, %[[W:[a-z0-9]+]]: tensor<60xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[Y:[a-z0-9]+]]: tensor<60x4xf32>, %[[W:[a-z0-9]+]]: tensor<60xf32>):
// CHECK:      "stablehlo.dynamic_slice"(%[[Y]],
// CHECK:      "stablehlo.dynamic_slice"(%[[W]],
// CHECK:      "stablehlo.dynamic_update_slice"(%[[Y]],
// CHECK:      "stablehlo.dynamic_update_slice"(%[[W]],

func.func public @main(%x: tensor<60x4xf32>, %v: tensor<60xf32>) -> (tensor<60x4xf32>, tensor<60xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = "stablehlo.while"(%i, %x, %v) ({
  ^bb0(%n: tensor<i32>, %p: tensor<60x4xf32>, %q: tensor<60xf32>):
    %most = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %n, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%n: tensor<i32>, %p: tensor<60x4xf32>, %q: tensor<60xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<60x4xf32>, tensor<f32>) -> tensor<4xf32>
    %t = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf32>) -> tensor<60x4xf32>
    %d = stablehlo.subtract %p, %t : tensor<60x4xf32>
    %e = stablehlo.sine %d : tensor<60x4xf32>
    %o = stablehlo.broadcast_in_dim %q, dims = [0] : (tensor<60xf32>) -> tensor<60x4xf32>
    %y = stablehlo.multiply %e, %o : tensor<60x4xf32>
    %f = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<60x4xf32>, tensor<f32>) -> tensor<60xf32>
    %w = stablehlo.add %f, %q : tensor<60xf32>
    stablehlo.return %next, %y, %w : tensor<i32>, tensor<60x4xf32>, tensor<60xf32>
  }) : (tensor<i32>, tensor<60x4xf32>, tensor<60xf32>) -> (tensor<i32>, tensor<60x4xf32>, tensor<60xf32>)
  return %r#1, %r#2 : tensor<60x4xf32>, tensor<60xf32>
}
