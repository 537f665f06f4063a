// RUN: %weir opt %s --pass dce | FileCheck %s
// CHECK: "chlo.tan"(%arg0) <{b = 1 : i64}> {a = 2 : i64}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "chlo.tan"(%x) <{b = 1 : i64}> {a = 2 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
