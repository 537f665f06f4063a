// What is predicted to gain: sums over lists of places, which XLA gathers element by element, and long sums, which it keeps in memory,
// are kernels. A short sum of what is read once anyway stays a loop.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 9000 --tile auto --machine x86-64-v4 | FileCheck %s
// CHECK: "stablehlo.custom_call"(%arg4, %arg5){{.*}}"weir_tile"
// CHECK: "stablehlo.custom_call"(%arg0, %arg1){{.*}}"weir_tile"
// CHECK: "stablehlo.custom_call"(%arg2, %arg3){{.*}}"weir_tile"
// CHECK: "stablehlo.while"
// CHECK-NOT: "weir_tile"
func.func @main(%x: tensor<500x40xf32>, %i: tensor<90x20x1xi32>, %own: tensor<90x80xf32>, %j: tensor<90x300x1xi32>, %u: tensor<300xf32>, %v: tensor<400xf32>, %a: tensor<3000xf32>, %b: tensor<3000x4xf32>)
    -> (tensor<90x40xf32>, tensor<90xf32>, tensor<300xf32>, tensor<3000xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 40>}> : (tensor<500x40xf32>, tensor<90x20x1xi32>) -> tensor<90x20x40xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<90x20x40xf32>, tensor<f32>) -> tensor<90x40xf32>
  %2 = "stablehlo.gather"(%own, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<90x80xf32>, tensor<90x300x1xi32>) -> tensor<90x300xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<90x300xf32>, tensor<f32>) -> tensor<90xf32>
  %4 = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<300xf32>) -> tensor<300x400xf32>
  %5 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<400xf32>) -> tensor<300x400xf32>
  %6 = stablehlo.divide %4, %5 : tensor<300x400xf32>
  %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300x400xf32>, tensor<f32>) -> tensor<300xf32>
  %8 = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<3000xf32>) -> tensor<3000x4xf32>
  %9 = stablehlo.add %8, %b : tensor<3000x4xf32>
  %10 = stablehlo.reduce(%9 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3000x4xf32>, tensor<f32>) -> tensor<3000xf32>
  return %1, %3, %7, %10 : tensor<90x40xf32>, tensor<90xf32>, tensor<300xf32>, tensor<3000xf32>
}
