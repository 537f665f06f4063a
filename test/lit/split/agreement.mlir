// The gradient of a maximum of products: along the rows the maximum is made where the mask is, so
// the first loop puts the mask out for the second, which would come to it by columns, with sums of
// another shape.
// RUN: %weir opt %s --tensor-size-threshold 4000 --stop-after split | FileCheck %s

// CHECK:      "weir.loop"({{.*}}) <{agree = true}>
// CHECK:      "stablehlo.maximum"
// CHECK:      "stablehlo.compare"{{.*}} -> tensor<13x64xi1>
// CHECK:      "weir.yield"({{.*}}) : (tensor<13xf32>, tensor<13x64xi1>, tensor<13xf32>) -> ()
// CHECK:      "weir.loop"({{.*}}) <{agree = true}>
// CHECK-NOT:  "stablehlo.compare"{{.*}} -> tensor<64x13xi1>
// CHECK:      "weir.yield"
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x16xf32>) -> (tensor<64x16xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x16xf32>, tensor<16x64xf32>) -> tensor<64x64xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %3 = stablehlo.reshape %2 : (tensor<64xf32>) -> tensor<64x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.compare EQ, %1, %4, FLOAT : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
    %6 = stablehlo.convert %5 : (tensor<64x64xi1>) -> tensor<64x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %9 = stablehlo.divide %8, %7 : tensor<64xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
    %11 = stablehlo.multiply %10, %6 : tensor<64x64xf32>
    %12 = stablehlo.dot_general %11, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<64x16xf32>) -> tensor<16x64xf32>
    %14 = stablehlo.dot_general %11, %0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<16x64xf32>) -> tensor<64x16xf32>
    %15 = stablehlo.transpose %13, dims = [1, 0] : (tensor<16x64xf32>) -> tensor<64x16xf32>
    %16 = stablehlo.add %14, %15 : tensor<64x16xf32>
    return %16 : tensor<64x16xf32>
  }
}
