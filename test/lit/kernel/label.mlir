// Linear and cross-entropy, value and gradient: two calls. The label leaves the first loop (pass elements), and is a
// mask in the second, which is one nest with both gradients: 200 points are a product's, no work items'. Its
// columns run in blocks of whole register tiles, of the products' accumulators, too.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 80000 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 80000 --tile on --machine x86-64-v3 2>&1 | FileCheck %s --check-prefix=NARROW

// CHECK: kernel: row 90 column 1000 inner 200; 1 passes, 2 + 0 reductions;
// CHECK: kernel: column 90 row 1000 inner 200 point 200 point 200; 1 passes, 1 + 1 reductions;
// CHECK-NOT: no tile
// CHECK: weir-tile 9: {{.*}}weir_tile
// CHECK: weir-tile 9: x86-64-v4{{[^ ]*}} 12 2 576 {{.*}}weir_tile
// NARROW: weir-tile 9: x86-64-v3{{[^ ]*}} 4 3 {{.*}}weir_tile
// CHECK-NOT: stablehlo.while
func.func @main(%x: tensor<90x200xf32>, %w: tensor<1000x200xf32>, %label: tensor<90xi32>) -> (tensor<f32>, tensor<90x200xf32>, tensor<1000x200xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<90x200xf32>, tensor<1000x200xf32>) -> tensor<90x1000xf32>
  %1 = stablehlo.reduce(%0 init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<90x1000xf32>, tensor<f32>) -> tensor<90xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<90xf32>) -> tensor<90x1000xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<90x1000xf32>
  %4 = stablehlo.exponential %3 : tensor<90x1000xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<90x1000xf32>, tensor<f32>) -> tensor<90xf32>
  %6 = stablehlo.log %5 : tensor<90xf32>
  %7 = stablehlo.reshape %label : (tensor<90xi32>) -> tensor<90x1xi32>
  %8 = "stablehlo.gather"(%3, %7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<90x1000xf32>, tensor<90x1xi32>) -> tensor<90xf32>
  %9 = stablehlo.subtract %6, %8 : tensor<90xf32>
  %10 = stablehlo.reduce(%9 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<90xf32>, tensor<f32>) -> tensor<f32>
  %11 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<90xf32>) -> tensor<90x1000xf32>
  %12 = stablehlo.divide %4, %11 : tensor<90x1000xf32>
  %minus = stablehlo.constant dense<-1.0> : tensor<90xf32>
  %13 = "stablehlo.scatter"(%12, %7, %minus) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %16 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %16 : tensor<f32>
  }) : (tensor<90x1000xf32>, tensor<90x1xi32>, tensor<90xf32>) -> tensor<90x1000xf32>
  %14 = stablehlo.dot_general %13, %w, contracting_dims = [1] x [0] : (tensor<90x1000xf32>, tensor<1000x200xf32>) -> tensor<90x200xf32>
  %15 = stablehlo.dot_general %13, %x, contracting_dims = [0] x [0] : (tensor<90x1000xf32>, tensor<90x200xf32>) -> tensor<1000x200xf32>
  return %10, %14, %15 : tensor<f32>, tensor<90x200xf32>, tensor<1000x200xf32>
}
