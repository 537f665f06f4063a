// The largest values by way of a sort that is turned round: a top-k.
// RUN: %python %S/same.py %weir %eval %s 0 --pass=inline,simplify,topk,dce
// RUN: %weir opt %s --pass=inline,simplify,topk,dce | FileCheck %s
// CHECK: "chlo.top_k"
module @jit__lambda {
  func.func public @main(%arg0: tensor<5x40xf32>) -> (tensor<5x3xf32>) {
    %0 = call @sort(%arg0) : (tensor<5x40xf32>) -> tensor<5x40xf32>
    %1 = stablehlo.reverse %0, dims = [1] : tensor<5x40xf32>
    %2 = stablehlo.slice %1 [0:5, 0:3] : (tensor<5x40xf32>) -> tensor<5x3xf32>
    return %2 : tensor<5x3xf32>
  }
  func.func private @sort(%arg0: tensor<5x40xf32>) -> tensor<5x40xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<5x40xf32>) -> tensor<5x40xf32>
    return %0 : tensor<5x40xf32>
  }
}
