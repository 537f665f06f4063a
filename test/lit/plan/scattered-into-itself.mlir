// `x.at[places].add(x)`: what is scattered into is copied, laid out anew, on TPUs; the scatter reads the array all the same.
// RUN: %peak --device v5e %s | FileCheck %s
// CHECK: 1536 1024 0 0 2560
func.func @main(%x: tensor<3x2x1xf32>, %places: tensor<3x1xi32>) -> tensor<3x2x1xf32> {
  %y = "stablehlo.scatter"(%x, %places, %x) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3x2x1xf32>, tensor<3x1xi32>, tensor<3x2x1xf32>) -> tensor<3x2x1xf32>
  return %y : tensor<3x2x1xf32>
}
