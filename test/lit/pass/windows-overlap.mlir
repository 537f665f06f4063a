// Overlap and add: the places of single elements are 2.9 MB, what they are added to 360 kB. Where
// that may stay whole, slices of it would cost time and bytes for nothing.
// RUN: %weir opt %s --memory-limit 1MB --pass=windows,dce | FileCheck %s
// RUN: %weir opt %s --memory-limit 500kB --pass=windows,dce | FileCheck %s --check-prefix=OPEN
// CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2)
// OPEN:  "stablehlo.scatter"({{.*}}inserted_window_dims = [0]
// OPEN:  tensor<700x512x1xi64>
func.func @main(%x: tensor<90112xf32>, %i: tensor<700x1xi32>, %u: tensor<700x512xf32>) -> (tensor<90112xf32>) {
  %y = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<90112xf32>, tensor<700x1xi32>, tensor<700x512xf32>) -> tensor<90112xf32>
  return %y : tensor<90112xf32>
}
