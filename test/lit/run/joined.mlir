// Concatenations inside of a tile.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit_stacked {
  func.func public @main(%arg0: tensor<100x5xf32>, %arg1: tensor<130x5xf32>) -> (tensor<100xf32>) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<130x5xf32>) -> tensor<5x130xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<100x5xf32>, tensor<5x130xf32>) -> tensor<100x130xf32>
    %2 = stablehlo.sine %1 : tensor<100x130xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<100x130xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<100x130xf32>
    %5 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<100x130xf32>) -> tensor<100x130x1xf32>
    %6 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<100x130xf32>) -> tensor<100x130x1xf32>
    %7 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<100x130xf32>) -> tensor<100x130x1xf32>
    %8 = stablehlo.concatenate %5, %6, %7, dim = 2 : (tensor<100x130x1xf32>, tensor<100x130x1xf32>, tensor<100x130x1xf32>) -> tensor<100x130x3xf32>
    %9 = stablehlo.tanh %8 : tensor<100x130x3xf32>
    %10 = stablehlo.slice %9 [0:100, 0:130, 1:3] : (tensor<100x130x3xf32>) -> tensor<100x130x2xf32>
    %11 = stablehlo.slice %9 [0:100, 0:130, 0:1] : (tensor<100x130x3xf32>) -> tensor<100x130x1xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<100x130x1xf32>
    %13 = stablehlo.multiply %11, %12 : tensor<100x130x1xf32>
    %14 = stablehlo.concatenate %10, %13, dim = 2 : (tensor<100x130x2xf32>, tensor<100x130x1xf32>) -> tensor<100x130x3xf32>
    %15 = stablehlo.slice %14 [0:100, 0:130, 0:1] : (tensor<100x130x3xf32>) -> tensor<100x130x1xf32>
    %16 = stablehlo.reshape %15 : (tensor<100x130x1xf32>) -> tensor<100x130xf32>
    %17 = stablehlo.slice %14 [0:100, 0:130, 1:3] : (tensor<100x130x3xf32>) -> tensor<100x130x2xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_1) applies stablehlo.maximum across dimensions = [2] : (tensor<100x130x2xf32>, tensor<f32>) -> tensor<100x130xf32>
    %19 = stablehlo.subtract %16, %18 : tensor<100x130xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<100x130xf32>, tensor<f32>) -> tensor<100xf32>
    return %20 : tensor<100xf32>
  }
}
