// A reader of large results of two branchings with predicates of their own: the case moves into the branches of the if, as it
// stands, and the reader into its branches. A case with the same index but fewer branches moves as it stands, too: what is beyond the
// last branch takes another one.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK:      ^bb0(%[[X:[a-z0-9]+]]: tensor<8xf32>, %[[Y:[a-z0-9]+]]: tensor<6xf32>, %[[I:[a-z0-9]+]]: tensor<i32>, %[[P:[a-z0-9]+]]: tensor<i1>):
// CHECK:      %[[R:[a-z0-9]+]]:2 = "stablehlo.if"(%[[P]]) ({
// CHECK-NEXT: %[[C:[a-z0-9]+]]:2 = "stablehlo.case"(%[[I]]) ({
// CHECK-NEXT: %[[S:[a-z0-9]+]] = "stablehlo.case"(%[[I]]) ({
// CHECK-NEXT: %[[T:[a-z0-9]+]] = "weir.loop"(%[[X]]) ({
// CHECK:      "stablehlo.return"(%[[T]]) : (tensor<6xf32>) -> ()
// CHECK-NEXT: }, {
// CHECK-NEXT: "stablehlo.return"(%[[Y]]) : (tensor<6xf32>) -> ()
// CHECK-NEXT: }) : (tensor<i32>) -> tensor<6xf32>
// CHECK:      %[[L:[a-z0-9]+]] = "weir.loop"(%[[X]]) ({
// CHECK:      "stablehlo.return"(%[[L]], %[[S]]) : (tensor<8xf32>, tensor<6xf32>) -> ()
// CHECK:      "stablehlo.return"(%[[C]]#0, %[[C]]#1) : (tensor<8xf32>, tensor<6xf32>) -> ()
// CHECK-NEXT: }, {
// CHECK-NEXT: "stablehlo.case"(%[[I]]) ({
// CHECK:      }) : (tensor<i1>) -> (tensor<8xf32>, tensor<6xf32>)
// CHECK-NEXT: "func.return"(%[[R]]#0, %[[R]]#1)
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>, %i: tensor<i32>, %p: tensor<i1>) -> (tensor<8xf32>, tensor<6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %k = "stablehlo.case"(%i) ({
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    stablehlo.return %xs : tensor<8x6xf32>
  }, {
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    stablehlo.return %ys : tensor<8x6xf32>
  }, {
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    %e = stablehlo.exponential %xs : tensor<8x6xf32>
    stablehlo.return %e : tensor<8x6xf32>
  }) : (tensor<i32>) -> tensor<8x6xf32>
  %l = "stablehlo.if"(%p) ({
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    stablehlo.return %xs : tensor<8x6xf32>
  }, {
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    stablehlo.return %ys : tensor<8x6xf32>
  }) : (tensor<i1>) -> tensor<8x6xf32>
  %m = stablehlo.multiply %k, %l : tensor<8x6xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  %s = "stablehlo.case"(%i) ({
    %t = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
    stablehlo.return %t : tensor<6xf32>
  }, {
    stablehlo.return %y : tensor<6xf32>
  }) : (tensor<i32>) -> tensor<6xf32>
  return %r, %s : tensor<8xf32>, tensor<6xf32>
}
