// Statistics along rows and sums along columns.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit__lambda {
  func.func public @main(%arg0: tensor<2x61x5xf32>, %arg1: tensor<2x64x5xf32>) -> (tensor<2x61xf32>, tensor<2x64xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x61x5xf32>, tensor<2x64x5xf32>) -> tensor<2x61x64xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x61x64xf32>, tensor<f32>) -> tensor<2x61xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x61xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<2x61xf32>
    %4 = stablehlo.is_finite %3 : (tensor<2x61xf32>) -> tensor<2x61xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x61xf32>
    %6 = stablehlo.select %4, %3, %5 : tensor<2x61xi1>, tensor<2x61xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x61xf32>) -> tensor<2x61x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<2x61x1xf32>) -> tensor<2x61x64xf32>
    %9 = stablehlo.subtract %0, %8 : tensor<2x61x64xf32>
    %10 = stablehlo.exponential %9 : tensor<2x61x64xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x61x64xf32>, tensor<f32>) -> tensor<2x61xf32>
    %12 = stablehlo.abs %11 : tensor<2x61xf32>
    %13 = stablehlo.log %12 : tensor<2x61xf32>
    %14 = stablehlo.add %13, %6 : tensor<2x61xf32>
    %15 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x61x5xf32>, tensor<2x64x5xf32>) -> tensor<2x61x64xf32>
    %16 = stablehlo.tanh %15 : tensor<2x61x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<2x61x64xf32>, tensor<f32>) -> tensor<2x64xf32>
    return %14, %17 : tensor<2x61xf32>, tensor<2x64xf32>
  }
}
