// A kernel matrix times more columns than fit one panel.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit__lambda {
  func.func public @main(%arg0: tensor<100x9xf32>, %arg1: tensor<130x9xf32>, %arg2: tensor<130x33xf32>) -> (tensor<100x33xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<100x9xf32>) -> tensor<100x1x9xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<130x9xf32>) -> tensor<1x130x9xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<100x1x9xf32>) -> tensor<100x130x9xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x130x9xf32>) -> tensor<100x130x9xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<100x130x9xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<100x130x9xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<100x130x9xf32>, tensor<f32>) -> tensor<100x130xf32>
    %cst_0 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<100x130xf32>
    %8 = stablehlo.multiply %7, %6 : tensor<100x130xf32>
    %9 = stablehlo.exponential %8 : tensor<100x130xf32>
    %10 = stablehlo.dot_general %9, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<100x130xf32>, tensor<130x33xf32>) -> tensor<100x33xf32>
    return %10 : tensor<100x33xf32>
  }
}
