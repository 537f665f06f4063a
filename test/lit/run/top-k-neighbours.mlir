// The nearest points: lists of what a product gives.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit__lambda {
  func.func public @main(%arg0: tensor<61x3xf32>, %arg1: tensor<100x3xf32>) -> (tensor<61x5xf32>, tensor<61x5xi32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<61x3xf32>) -> tensor<61x1x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<100x3xf32>) -> tensor<1x100x3xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<61x1x3xf32>) -> tensor<61x100x3xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x100x3xf32>) -> tensor<61x100x3xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<61x100x3xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<61x100x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<61x100x3xf32>, tensor<f32>) -> tensor<61x100xf32>
    %7 = stablehlo.negate %6 : tensor<61x100xf32>
    %values, %indices = chlo.top_k(%7, k = 5) : tensor<61x100xf32> -> (tensor<61x5xf32>, tensor<61x5xi32>)
    return %values, %indices : tensor<61x5xf32>, tensor<61x5xi32>
  }
}
