// Lists too long to stay in registers.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 2 --tensor-size-threshold 9000 --tile on --machine x86-64-v2
module @jit__lambda {
  func.func public @main(%arg0: tensor<37xf32>, %arg1: tensor<200xf32>) -> (tensor<37x150xf32>, tensor<37x150xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<37x200xi32>
    %1 = stablehlo.iota dim = 1 : tensor<37x200xi32>
    %c = stablehlo.constant dense<7> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<37x200xi32>
    %3 = stablehlo.multiply %0, %2 : tensor<37x200xi32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %4 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<37x200xi32>
    %5 = stablehlo.multiply %1, %4 : tensor<37x200xi32>
    %6 = stablehlo.add %3, %5 : tensor<37x200xi32>
    %c_1 = stablehlo.constant dense<5> : tensor<i64>
    %7 = call @remainder(%6, %c_1) : (tensor<37x200xi32>, tensor<i64>) -> tensor<37x200xi32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<37x200xi32>
    %9 = stablehlo.compare LT, %7, %8, SIGNED : (tensor<37x200xi32>, tensor<37x200xi32>) -> tensor<37x200xi1>
    %10 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<37xf32>) -> tensor<37x1xf32>
    %11 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<200xf32>) -> tensor<1x200xf32>
    %12 = call @_where_0(%9, %10, %11) : (tensor<37x200xi1>, tensor<37x1xf32>, tensor<1x200xf32>) -> tensor<37x200xf32>
    %values, %indices = chlo.top_k(%12, k = 150) : tensor<37x200xf32> -> (tensor<37x150xf32>, tensor<37x150xi32>)
    return %values, %indices : tensor<37x150xf32>, tensor<37x150xi32>
  }
  func.func private @remainder(%arg0: tensor<37x200xi32>, %arg1: tensor<i64>) -> tensor<37x200xi32> {
    %0 = stablehlo.convert %arg1 : (tensor<i64>) -> tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<37x200xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<37x200xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<37x200xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<37x200xi32>, tensor<37x200xi32>) -> tensor<37x200xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<37x200xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<37x200xi32>, tensor<37x200xi32>) -> tensor<37x200xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<37x200xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<37x200xi1>, tensor<37x200xi1>) -> tensor<37x200xi1>
    %12 = stablehlo.and %11, %6 : tensor<37x200xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<37x200xi32>
    %14 = stablehlo.add %4, %13 : tensor<37x200xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<37x200xi1>, tensor<37x200xi32>
    return %15 : tensor<37x200xi32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @_where_0(%arg0: tensor<37x200xi1>, %arg1: tensor<37x1xf32>, %arg2: tensor<1x200xf32>) -> tensor<37x200xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 1] : (tensor<37x1xf32>) -> tensor<37x200xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x200xf32>) -> tensor<37x200xf32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<37x200xi1>, tensor<37x200xf32>
    return %2 : tensor<37x200xf32>
  }
}
