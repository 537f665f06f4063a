// Large results of branches: what reads them moves into the branches, where it is split.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// The index is what both cases have: the second one's branches follow the first one's. Between them is %d, which depends on the
// one and is read by the other. %n does not depend on either, and stands in front of both.
// CHECK-LABEL: sym_name = "main"
// CHECK:      ^bb0(%[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<6xf32>, %[[I:[a-z0-9]+]]: tensor<i32>):
// CHECK:      %[[N:[a-z0-9]+]] = "stablehlo.negate"(%[[X]])
// CHECK-NEXT: %[[R:[a-z0-9]+]]:3 = "stablehlo.case"(%[[I]]) ({
// CHECK:      %[[A:[a-z0-9]+]]:2 = "weir.loop"(
// CHECK:      "stablehlo.cosine"{{.*}} : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK:      "stablehlo.tanh"
// CHECK:      "weir.yield"
// CHECK:      "stablehlo.return"(%[[Y]], %[[A]]#0, %[[A]]#1) : (tensor<6xf32>, tensor<8xf32>, tensor<8xf32>) -> ()
// CHECK-NEXT: }, {
// CHECK:      "weir.loop"(
// CHECK-NOT:  "stablehlo.cosine"
// CHECK:      "stablehlo.sine"{{.*}} : (tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK:      }) : (tensor<i32>) -> (tensor<6xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[S:[a-z0-9]+]] = "stablehlo.add"(%[[R]]#0, %[[Y]])
// CHECK-NEXT: "func.return"(%[[S]], %[[R]]#2, %[[R]]#1)
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>, %i: tensor<i32>) -> (tensor<6xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %k:2 = "stablehlo.case"(%i) ({
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    %m = stablehlo.multiply %xs, %ys : tensor<8x6xf32>
    stablehlo.return %m, %y : tensor<8x6xf32>, tensor<6xf32>
  }, {
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    %e = stablehlo.negate %y : tensor<6xf32>
    stablehlo.return %xs, %e : tensor<8x6xf32>, tensor<6xf32>
  }) : (tensor<i32>) -> (tensor<8x6xf32>, tensor<6xf32>)
  %small = stablehlo.add %k#1, %y : tensor<6xf32>
  %s = stablehlo.reduce(%k#0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %d = stablehlo.tanh %s : tensor<8xf32>
  %n = stablehlo.negate %x : tensor<8xf32>
  %r = "stablehlo.case"(%i) ({
    %ds = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    %c = stablehlo.cosine %k#0 : tensor<8x6xf32>
    %p = stablehlo.multiply %c, %ds : tensor<8x6xf32>
    %t = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    stablehlo.return %t : tensor<8xf32>
  }, {
    %ns = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    %c = stablehlo.sine %k#0 : tensor<8x6xf32>
    %p = stablehlo.multiply %c, %ns : tensor<8x6xf32>
    %t = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    stablehlo.return %t : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %small, %r, %s : tensor<6xf32>, tensor<8xf32>, tensor<8xf32>
}
