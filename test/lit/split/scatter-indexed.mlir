// The dimension that the indices name: each slice gets the updates that lie in it, the others are
// out of its bounds, where scatter drops them.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 > %t
// RUN: not grep 40xf32 %t

// CHECK: "weir.loop"(%arg0, %arg1, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[START:.*]]: tensor<i64>, %{{.*}}: tensor<i64>, %[[I:.*]]: tensor<3x1xi32>, %[[U:.*]]: tensor<3xf32>, %[[CARRY:.*]]: tensor<f32>):
// CHECK: %[[X:.*]] = "stablehlo.convert"({{.*}}) : (tensor<10xi32>) -> tensor<10xf32>
// CHECK: %[[WIDE:.*]] = "stablehlo.convert"(%[[I]])
// CHECK: %[[ORIGIN:.*]] = "stablehlo.broadcast_in_dim"(%[[START]])
// CHECK: %[[LOCAL:.*]] = "stablehlo.subtract"(%[[WIDE]], %[[ORIGIN]])
// CHECK: "stablehlo.scatter"(%[[X]], %[[LOCAL]], %[[U]])
func.func public @main(%i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.iota dim = 0 : tensor<40xf32>
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<40xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<40xf32>
  %s = stablehlo.reduce(%y init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
