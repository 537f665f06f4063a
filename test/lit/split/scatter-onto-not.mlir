// A maximum of sums and more: the sums have to be there before.
// RUN: %weir opt %s --tensor-size-threshold 400 --tensor-split-size 400 --stop-after split | FileCheck %s

// CHECK: %[[Y:[0-9]+]] = "weir.loop"
// CHECK: "weir.loop"({{.*}}, %[[Y]])
func.func public @main(%to: tensor<5xf32>, %i: tensor<37x23x1xi32>, %j: tensor<37x23x1xi32>, %x: tensor<37xf32>) -> tensor<5xf32> {
  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<37xf32>) -> tensor<37x23xf32>
  %e = stablehlo.exponential %b : tensor<37x23xf32>
  %y = "stablehlo.scatter"(%to, %i, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %d = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }) : (tensor<5xf32>, tensor<37x23x1xi32>, tensor<37x23xf32>) -> tensor<5xf32>
  %z = "stablehlo.scatter"(%y, %j, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %d = stablehlo.maximum %a, %c : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }) : (tensor<5xf32>, tensor<37x23x1xi32>, tensor<37x23xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
