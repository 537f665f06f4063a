// Rows of a reshaped line: no more of the line is computed. Its first dimension is one long.
// RUN: %python %S/same.py %weir %eval %s 0 --pass=through-slice,dce
// RUN: %weir opt %s --pass=through-slice,dce | FileCheck %s
// CHECK: "stablehlo.exponential"({{.*}}) : (tensor<1x12xf32>) -> tensor<1x12xf32>
module {
  func.func public @main(%x: tensor<1x24xf32>) -> (tensor<2x6xf32>) {
    %0 = stablehlo.exponential %x : tensor<1x24xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x24xf32>) -> tensor<4x6xf32>
    %2 = stablehlo.slice %1 [1:3, 0:6] : (tensor<4x6xf32>) -> tensor<2x6xf32>
    return %2 : tensor<2x6xf32>
  }
}
