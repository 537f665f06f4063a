// The same where half of each row is masked.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 2 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit__lambda {
  func.func public @main(%arg0: tensor<2x61x5xf32>, %arg1: tensor<2x64x5xf32>, %arg2: tensor<2x64x9xf32>) -> (tensor<2x61x9xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x61x5xf32>, tensor<2x64x5xf32>) -> tensor<2x61x64xf32>
    %1 = stablehlo.iota dim = 1 : tensor<2x61x64xi32>
    %2 = stablehlo.iota dim = 2 : tensor<2x61x64xi32>
    %3 = stablehlo.compare GE, %1, %2, SIGNED : (tensor<2x61x64xi32>, tensor<2x61x64xi32>) -> tensor<2x61x64xi1>
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %4 = call @_where(%3, %0, %cst) : (tensor<2x61x64xi1>, tensor<2x61x64xf32>, tensor<f64>) -> tensor<2x61x64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.maximum across dimensions = [2] : (tensor<2x61x64xf32>, tensor<f32>) -> tensor<2x61xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x61xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<2x61xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x61xf32>) -> tensor<2x61x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x61x1xf32>) -> tensor<2x61x64xf32>
    %10 = stablehlo.subtract %4, %9 : tensor<2x61x64xf32>
    %11 = stablehlo.exponential %10 : tensor<2x61x64xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x61x64xf32>, tensor<f32>) -> tensor<2x61xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<2x61xf32>) -> tensor<2x61x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x61x1xf32>) -> tensor<2x61x64xf32>
    %15 = stablehlo.divide %11, %14 : tensor<2x61x64xf32>
    %16 = stablehlo.dot_general %15, %arg2, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x61x64xf32>, tensor<2x64x9xf32>) -> tensor<2x61x9xf32>
    return %16 : tensor<2x61x9xf32>
  }
  func.func private @_where(%arg0: tensor<2x61x64xi1>, %arg1: tensor<2x61x64xf32>, %arg2: tensor<f64>) -> tensor<2x61x64xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<f64>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x61x64xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<2x61x64xi1>, tensor<2x61x64xf32>
    return %2 : tensor<2x61x64xf32>
  }
}
