// One window at an index: it is written inside of each slice, and taken back where it doesn't belong.
// XLA would read beyond the slice if it were left to drop it (src/split/indices.c).
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: ^bb0(%[[START:.*]]: tensor<i64>, %{{.*}}: tensor<i64>, %[[X:.*]]: tensor<10xf32>, %[[I:.*]]: tensor<1xi32>, %[[U:.*]]: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK: %[[LOCAL:.*]] = "stablehlo.subtract"
// CHECK: %[[UP:.*]] = "stablehlo.maximum"(%[[LOCAL]],
// CHECK: %[[WITHIN:.*]] = "stablehlo.minimum"(%[[UP]],
// CHECK: %[[Y:.*]] = "stablehlo.scatter"(%[[X]], %[[WITHIN]], %[[U]])
// CHECK: %[[IN:.*]] = "stablehlo.and"
// CHECK: %[[MASK:.*]] = "stablehlo.broadcast_in_dim"(%[[IN]]) {{.*}} -> tensor<10xi1>
// CHECK: "stablehlo.select"(%[[MASK]], %[[Y]], %[[X]])
func.func public @main(%x: tensor<40xf32>, %i: tensor<1xi32>, %u: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<40xf32>, tensor<1xi32>, tensor<f32>) -> tensor<40xf32>
  %s = stablehlo.reduce(%y init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<40xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
