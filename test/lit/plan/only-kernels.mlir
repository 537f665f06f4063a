// The gradient of the largest product: what is compared with its rows' maxima is of the same sums in
// kernels, in XLA's loops it is made once and stays whole. As kernels are not predicted to be faster
// they are taken last: rather than refusing.
// RUN: %weir plan %s --memory-limit 700kB --tile auto --machine x86-64-v3 | FileCheck %s
// RUN: not %weir plan %s --memory-limit 700kB --tile off 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: %weir plan %s --memory-limit 1.1MB --tile auto --machine x86-64-v3 | FileCheck %s --check-prefix=XLA

// CHECK: peak {{.*}} -> 667 kB, as weir estimates
// CHECK: loops:
// CHECK: 1000 {{.*}} kernel dot_general
// CHECK: 1000 {{.*}} kernel dot_general
// OFF: no way found under the limit of 700 kB
// XLA: loops:
// XLA-NOT: kernel
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000x32xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<1000x32xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<1000x32xf32>) -> tensor<32x1000xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000x32xf32>, tensor<32x1000xf32>) -> tensor<1000x1000xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>
    %3 = stablehlo.reshape %2 : (tensor<1000xf32>) -> tensor<1000x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1000x1xf32>) -> tensor<1000x1000xf32>
    %5 = stablehlo.compare EQ, %1, %4, FLOAT : (tensor<1000x1000xf32>, tensor<1000x1000xf32>) -> tensor<1000x1000xi1>
    %6 = stablehlo.convert %5 : (tensor<1000x1000xi1>) -> tensor<1000x1000xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%2 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<1.000000e+03> : tensor<f32>
    %9 = stablehlo.divide %8, %cst_2 : tensor<f32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+03> : tensor<f32>
    %10 = stablehlo.divide %cst_3, %cst_4 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %12 = stablehlo.divide %11, %7 : tensor<1000xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
    %14 = stablehlo.multiply %13, %6 : tensor<1000x1000xf32>
    %15 = stablehlo.dot_general %14, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1000x1000xf32>, tensor<1000x32xf32>) -> tensor<1000x32xf32>
    %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<1000x32xf32>) -> tensor<32x1000xf32>
    %17 = stablehlo.dot_general %14, %0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1000x1000xf32>, tensor<32x1000xf32>) -> tensor<1000x32xf32>
    %18 = stablehlo.transpose %16, dims = [1, 0] : (tensor<32x1000xf32>) -> tensor<1000x32xf32>
    %19 = stablehlo.add %17, %18 : tensor<1000x32xf32>
    return %9, %19 : tensor<f32>, tensor<1000x32xf32>
  }
}
