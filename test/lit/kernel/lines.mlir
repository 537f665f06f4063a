// Elements of a column that lie 600 bytes apart are a line of the cache each. With the 150 of a line
// as rows of a tile they are read together; as the outermost loop it would come back to a line after
// 900 x 289 others, which no cache keeps.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 100000 --tile auto --machine x86-64-v3 --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK: kernel: outer 900 column 289 row 150 point 3;
func.func @main(%x: tensor<900x289x150xf32>) -> tensor<900x150x3xf32> {
  %0 = stablehlo.tanh %x : tensor<900x289x150xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<900x289x150xf32>) -> tensor<900x150x289xf32>
  %2, %3 = chlo.top_k(%1, k = 3) : tensor<900x150x289xf32> -> (tensor<900x150x3xf32>, tensor<900x150x3xi32>)
  return %2 : tensor<900x150x3xf32>
}
