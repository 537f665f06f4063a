// An element of each row that indices name, some out of bounds.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit_picked {
  func.func public @main(%arg0: tensor<100x5xf32>, %arg1: tensor<130x5xf32>, %arg2: tensor<100xi32>) -> (tensor<100xf32>) {
    %0 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<130x5xf32>) -> tensor<5x130xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<100x5xf32>, tensor<5x130xf32>) -> tensor<100x130xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<100x130xf32>, tensor<f32>) -> tensor<100xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<100xf32>
    %4 = stablehlo.maximum %3, %2 : tensor<100xf32>
    %5 = stablehlo.is_finite %4 : (tensor<100xf32>) -> tensor<100xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<100xf32>
    %7 = stablehlo.select %5, %4, %6 : tensor<100xi1>, tensor<100xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<100xf32>) -> tensor<100x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<100x1xf32>) -> tensor<100x130xf32>
    %10 = stablehlo.subtract %1, %9 : tensor<100x130xf32>
    %11 = stablehlo.exponential %10 : tensor<100x130xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<100x130xf32>, tensor<f32>) -> tensor<100xf32>
    %13 = stablehlo.abs %12 : tensor<100xf32>
    %14 = stablehlo.log %13 : tensor<100xf32>
    %15 = stablehlo.add %14, %7 : tensor<100xf32>
    %16 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<100xi32>) -> tensor<100x1xi32>
    %c = stablehlo.constant dense<130> : tensor<i64>
    %17 = call @remainder(%16, %c) : (tensor<100x1xi32>, tensor<i64>) -> tensor<100x1xi32>
    %18 = call @take_along_axis(%1, %17) : (tensor<100x130xf32>, tensor<100x1xi32>) -> tensor<100x1xf32>
    %19 = stablehlo.reshape %18 : (tensor<100x1xf32>) -> tensor<100xf32>
    %20 = stablehlo.subtract %15, %19 : tensor<100xf32>
    return %20 : tensor<100xf32>
  }
  func.func private @remainder(%arg0: tensor<100x1xi32>, %arg1: tensor<i64>) -> tensor<100x1xi32> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<100x1xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<100x1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<100x1xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<100x1xi32>, tensor<100x1xi32>) -> tensor<100x1xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<100x1xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<100x1xi32>, tensor<100x1xi32>) -> tensor<100x1xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<100x1xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<100x1xi1>, tensor<100x1xi1>) -> tensor<100x1xi1>
    %12 = stablehlo.and %11, %6 : tensor<100x1xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<100x1xi32>
    %14 = stablehlo.add %4, %13 : tensor<100x1xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<100x1xi1>, tensor<100x1xi32>
    return %15 : tensor<100x1xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @take_along_axis(%arg0: tensor<100x130xf32>, %arg1: tensor<100x1xi32>) -> tensor<100x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<100x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<100x1xi32>, tensor<100x1xi32>) -> tensor<100x1xi1>
    %c_0 = stablehlo.constant dense<130> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<100x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<100x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<100x1xi1>, tensor<100x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<100x1xi32>) -> tensor<100x1x1xi32>
    %c_1 = stablehlo.constant dense<129> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<100x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<100x1x1xi32>, tensor<100x1x1xi32>) -> tensor<100x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<100x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<100x1x1xi32>, tensor<100x1x1xi32>) -> tensor<100x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<100x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<100x1x1xi1>, tensor<i1>) -> tensor<100x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<100x130xf32>, tensor<100x1x1xi32>) -> tensor<100x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<100x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<100x1xi1>, tensor<100x1xf32>
    return %15 : tensor<100x1xf32>
  }
}
