// Slices and concatenations inside of a tile: a dimension that is cut is two axes, both inside of the tile; one that a tile would span
// is not covered.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 100000 --tile on --machine x86-64-v4 --skip columns,through-slice --debug 3 2>&1 | FileCheck %s

// Coordinates of differences one by one.
// CHECK: kernel: row 200 column 300 inner 2; 1 passes, 2 + 0 reductions;
// CHECK: no kernel: no pair of axes that can be rows and columns
// CHECK: weir_tile
// CHECK-NOT: weir_tile
// CHECK: stablehlo.while
func.func @main(%x: tensor<200x3xf32>, %y: tensor<300x3xf32>, %u: tensor<190xf32>, %v: tensor<290xf32>) -> (tensor<200x2xf32>, tensor<190xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:200, 1:3] : (tensor<200x3xf32>) -> tensor<200x2xf32>
  %1 = stablehlo.slice %y [0:300, 0:2] : (tensor<300x3xf32>) -> tensor<300x2xf32>
  %2 = stablehlo.slice %y [0:300, 2:3] : (tensor<300x3xf32>) -> tensor<300x1xf32>
  %3 = stablehlo.reshape %2 : (tensor<300x1xf32>) -> tensor<300xf32>
  %4 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<200x2xf32>) -> tensor<200x300x2xf32>
  %5 = stablehlo.broadcast_in_dim %1, dims = [1, 2] : (tensor<300x2xf32>) -> tensor<200x300x2xf32>
  %6 = stablehlo.subtract %4, %5 : tensor<200x300x2xf32>
  %7 = stablehlo.sine %6 : tensor<200x300x2xf32>
  %8 = stablehlo.slice %7 [0:200, 0:300, 0:1] : (tensor<200x300x2xf32>) -> tensor<200x300x1xf32>
  %9 = stablehlo.reshape %8 : (tensor<200x300x1xf32>) -> tensor<200x300xf32>
  %10 = stablehlo.slice %7 [0:200, 0:300, 1:2] : (tensor<200x300x2xf32>) -> tensor<200x300x1xf32>
  %11 = stablehlo.reshape %10 : (tensor<200x300x1xf32>) -> tensor<200x300xf32>
  %12 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<300xf32>) -> tensor<200x300xf32>
  %13 = stablehlo.multiply %11, %12 : tensor<200x300xf32>
  %14 = stablehlo.reduce(%9 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<200x300xf32>, tensor<f32>) -> tensor<200xf32>
  %15 = stablehlo.reduce(%13 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<200x300xf32>, tensor<f32>) -> tensor<200xf32>
  %16 = stablehlo.reshape %14 : (tensor<200xf32>) -> tensor<200x1xf32>
  %17 = stablehlo.reshape %15 : (tensor<200xf32>) -> tensor<200x1xf32>
  %18 = stablehlo.concatenate %16, %17, dim = 1 : (tensor<200x1xf32>, tensor<200x1xf32>) -> tensor<200x2xf32>
  %19 = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<190xf32>) -> tensor<190x290xf32>
  %20 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<290xf32>) -> tensor<190x290xf32>
  %21 = stablehlo.subtract %19, %20 : tensor<190x290xf32>
  %22 = stablehlo.tanh %21 : tensor<190x290xf32>
  %23 = stablehlo.slice %22 [0:190, 1:290] : (tensor<190x290xf32>) -> tensor<190x289xf32>
  %24 = stablehlo.exponential %23 : tensor<190x289xf32>
  %25 = stablehlo.reduce(%24 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<190x289xf32>, tensor<f32>) -> tensor<190xf32>
  return %18, %25 : tensor<200x2xf32>, tensor<190xf32>
}
