// A loop inside of a kernel, element by element.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 2 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit__lambda {
  func.func public @main(%arg0: tensor<150xf32>) -> (tensor<150xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<150xf32>) -> tensor<150x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<150xf32>) -> tensor<1x150xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<150x1xf32>) -> tensor<150x150xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x150xf32>) -> tensor<150x150xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<150x150xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<150x150xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<150x150xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %7:3 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %c, %iterArg_2 = %6) : tensor<150xf32>, tensor<i64>, tensor<150x150xf32>
    cond {
      %c_3 = stablehlo.constant dense<9> : tensor<i64>
      %9 = stablehlo.compare LT, %iterArg_1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = func.call @closed_call(%iterArg, %iterArg_2) : (tensor<150xf32>, tensor<150x150xf32>) -> tensor<150x150xf32>
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %10 = stablehlo.add %iterArg_1, %c_3 : tensor<i64>
      stablehlo.return %iterArg, %10, %9 : tensor<150xf32>, tensor<i64>, tensor<150x150xf32>
    }
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7#2 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<150x150xf32>, tensor<f32>) -> tensor<150xf32>
    return %8 : tensor<150xf32>
  }
  func.func private @closed_call(%arg0: tensor<150xf32>, %arg1: tensor<150x150xf32>) -> tensor<150x150xf32> {
    %0 = stablehlo.multiply %arg1, %arg1 : tensor<150x150xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<150x150xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<150x150xf32>
    %3 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<150xf32>) -> tensor<150x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<150x1xf32>) -> tensor<150x150xf32>
    %5 = stablehlo.add %2, %4 : tensor<150x150xf32>
    %6 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<150xf32>) -> tensor<1x150xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x150xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<1x150xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x150xf32>) -> tensor<150x150xf32>
    %10 = stablehlo.subtract %5, %9 : tensor<150x150xf32>
    return %10 : tensor<150x150xf32>
  }
}
