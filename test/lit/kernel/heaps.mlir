// Lists of a top-k cost what is put into them in XLA's loop, too: of 32 of 3160 that is most of it.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 6MB --tile auto --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s
// CHECK: predicted gain {{[2-9]|1\.[2-9]}}
// CHECK: "weir_tile"
func.func @main(%x: tensor<2528x64xf32>, %y: tensor<3160x64xf32>) -> tensor<2528x32xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<2528x64xf32>, tensor<3160x64xf32>) -> tensor<2528x3160xf32>
  %1:2 = "chlo.top_k"(%0) <{k = 32 : i64}> : (tensor<2528x3160xf32>) -> (tensor<2528x32xf32>, tensor<2528x32xi32>)
  return %1#0 : tensor<2528x32xf32>
}
