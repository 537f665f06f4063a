// Sums that are scattered one upon the other are added up by one loop, in one carry: a loop for each
// would make all that they share again. What the places of the second depend on comes first.
// RUN: %weir opt %s --tensor-size-threshold 400 --tensor-split-size 400 --stop-after split | FileCheck %s

// CHECK: "weir.loop"(%{{.*}}) ({
// CHECK: ^bb0({{.*}}, %[[CARRY:[a-z0-9]+]]: tensor<5xf32>):
// CHECK: %[[E:[a-z0-9]+]] = "stablehlo.exponential"
// CHECK: %[[FIRST:[a-z0-9]+]] = "stablehlo.scatter"(%[[CARRY]], %{{[a-z0-9]+}}, %{{[a-z0-9]+}})
// CHECK: %[[SECOND:[a-z0-9]+]] = "stablehlo.scatter"(%[[FIRST]], %{{[a-z0-9]+}}, %{{[a-z0-9]+}})
// CHECK: "weir.yield"(%[[SECOND]])
// CHECK-NOT: weir.loop
func.func public @main(%to: tensor<5xf32>, %i: tensor<37x23x1xi32>, %j: tensor<37x23x1xi32>, %x: tensor<37xf32>) -> tensor<5xf32> {
  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<37xf32>) -> tensor<37x23xf32>
  %e = stablehlo.exponential %b : tensor<37x23xf32>
  %n = stablehlo.negate %e : tensor<37x23xf32>
  %y = "stablehlo.scatter"(%to, %i, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %d = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }) : (tensor<5xf32>, tensor<37x23x1xi32>, tensor<37x23xf32>) -> tensor<5xf32>
  %z = "stablehlo.scatter"(%y, %j, %n) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %d = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }) : (tensor<5xf32>, tensor<37x23x1xi32>, tensor<37x23xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
