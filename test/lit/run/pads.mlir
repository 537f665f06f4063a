// Pads with gaps along two dimensions inside of a tile: an element is there where it is in both.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 20000 --tile on --machine x86-64-v2
module @jit_pads {
  func.func public @main(%arg0: tensor<60x3x4xf32>, %arg1: tensor<70x4xf32>) -> (tensor<60xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2, 3] : (tensor<60x3x4xf32>) -> tensor<60x1x3x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1, 3] : (tensor<70x4xf32>) -> tensor<1x70x1x4xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<60x1x3x4xf32>) -> tensor<60x70x3x4xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x70x1x4xf32>) -> tensor<60x70x3x4xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<60x70x3x4xf32>
    %5 = stablehlo.tanh %4 : tensor<60x70x3x4xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %6 = stablehlo.pad %5, %cst, low = [0, 0, 1, 2], high = [0, 0, 2, 1], interior = [0, 0, 1, 0] : (tensor<60x70x3x4xf32>, tensor<f32>) -> tensor<60x70x8x7xf32>
    %7 = stablehlo.iota dim = 0 : tensor<56xf32>
    %8 = stablehlo.cosine %7 : tensor<56xf32>
    %9 = stablehlo.reshape %8 : (tensor<56xf32>) -> tensor<8x7xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [2, 3] : (tensor<8x7xf32>) -> tensor<1x1x8x7xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2, 3] : (tensor<1x1x8x7xf32>) -> tensor<60x70x8x7xf32>
    %12 = stablehlo.multiply %6, %11 : tensor<60x70x8x7xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst_0) applies stablehlo.add across dimensions = [2, 3] : (tensor<60x70x8x7xf32>, tensor<f32>) -> tensor<60x70xf32>
    %14 = stablehlo.slice %arg1 [0:70, 0:1] : (tensor<70x4xf32>) -> tensor<70x1xf32>
    %15 = stablehlo.reshape %14 : (tensor<70x1xf32>) -> tensor<70xf32>
    %16 = stablehlo.sine %15 : tensor<70xf32>
    %17 = stablehlo.dot_general %13, %16, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<60x70xf32>, tensor<70xf32>) -> tensor<60xf32>
    return %17 : tensor<60xf32>
  }
}
