// Its gradients: products along rows and along columns.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 3000 --tile on --machine x86-64-v2
module @jit__lambda {
  func.func public @main(%arg0: tensor<1x40x5xf32>, %arg1: tensor<1x50x5xf32>, %arg2: tensor<1x50x7xf32>) -> (tensor<1x40x5xf32>, tensor<1x50x5xf32>, tensor<1x50x7xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x40x5xf32>, tensor<1x50x5xf32>) -> tensor<1x40x50xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<1x40x50xf32>, tensor<f32>) -> tensor<1x40xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x40xf32>
    %3 = stablehlo.maximum %2, %1 : tensor<1x40xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2] : (tensor<1x40x1xf32>) -> tensor<1x40x50xf32>
    %6 = stablehlo.subtract %0, %5 : tensor<1x40x50xf32>
    %7 = stablehlo.exponential %6 : tensor<1x40x50xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<1x40x50xf32>, tensor<f32>) -> tensor<1x40xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x40x1xf32>) -> tensor<1x40x50xf32>
    %11 = stablehlo.divide %7, %10 : tensor<1x40x50xf32>
    %12 = stablehlo.multiply %9, %9 : tensor<1x40x1xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x40x1xf32>
    %14 = stablehlo.divide %13, %12 : tensor<1x40x1xf32>
    %15 = stablehlo.reshape %11 : (tensor<1x40x50xf32>) -> tensor<40x50xf32>
    %16 = stablehlo.reshape %arg2 : (tensor<1x50x7xf32>) -> tensor<50x7xf32>
    %17 = stablehlo.dot_general %15, %16, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<40x50xf32>, tensor<50x7xf32>) -> tensor<40x7xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [1, 2] : (tensor<40x7xf32>) -> tensor<1x40x7xf32>
    %19 = stablehlo.cosine %18 : tensor<1x40x7xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x40x7xf32>
    %21 = stablehlo.multiply %20, %19 : tensor<1x40x7xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<1x40x7xf32>, tensor<f32>) -> tensor<40x7xf32>
    %23 = stablehlo.dot_general %22, %15, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<40x7xf32>, tensor<40x50xf32>) -> tensor<7x50xf32>
    %24 = stablehlo.transpose %23, dims = [1, 0] : (tensor<7x50xf32>) -> tensor<50x7xf32>
    %25 = stablehlo.dot_general %22, %16, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<40x7xf32>, tensor<50x7xf32>) -> tensor<40x50xf32>
    %26 = stablehlo.broadcast_in_dim %24, dims = [1, 2] : (tensor<50x7xf32>) -> tensor<1x50x7xf32>
    %27 = stablehlo.broadcast_in_dim %25, dims = [1, 2] : (tensor<40x50xf32>) -> tensor<1x40x50xf32>
    %28 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2] : (tensor<1x40x1xf32>) -> tensor<1x40x50xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<1x40x50xf32>
    %30 = stablehlo.multiply %29, %7 : tensor<1x40x50xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.reduce(%30 init: %cst_5) applies stablehlo.add across dimensions = [2] : (tensor<1x40x50xf32>, tensor<f32>) -> tensor<1x40xf32>
    %32 = stablehlo.reshape %31 : (tensor<1x40xf32>) -> tensor<1x40x1xf32>
    %33 = stablehlo.negate %32 : tensor<1x40x1xf32>
    %34 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x40x1xf32>) -> tensor<1x40x50xf32>
    %35 = stablehlo.divide %27, %34 : tensor<1x40x50xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.reduce(%33 init: %cst_6) applies stablehlo.add across dimensions = [0, 2] : (tensor<1x40x1xf32>, tensor<f32>) -> tensor<40xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [1] : (tensor<40xf32>) -> tensor<1x40xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<1x40x50xf32>
    %39 = stablehlo.add %35, %38 : tensor<1x40x50xf32>
    %40 = stablehlo.multiply %39, %7 : tensor<1x40x50xf32>
    %41 = stablehlo.dot_general %40, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x40x50xf32>, tensor<1x40x5xf32>) -> tensor<1x50x5xf32>
    %42 = stablehlo.dot_general %40, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1x40x50xf32>, tensor<1x50x5xf32>) -> tensor<1x40x5xf32>
    return %42, %41, %26 : tensor<1x40x5xf32>, tensor<1x50x5xf32>, tensor<1x50x7xf32>
  }
}
