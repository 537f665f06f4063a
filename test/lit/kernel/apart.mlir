// Columns next to each other of which a long sum reads points that are far apart are copied, a block
// at a time: 504 columns of 64 f32 and 4 rows of results a core. Not where they are close, and
// not for 12 rows, three tiles.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 5000 --tile on --machine x86-64-v3,cores=2 | FileCheck %s
// CHECK: call_target_name = "weir_tile"{{.*}} -> (tensor<512xf32>, tensor<260160xui8>)
// CHECK: call_target_name = "weir_tile"{{.*}} -> (tensor<512xf32>, tensor<2112xui8>)
// CHECK: call_target_name = "weir_tile"{{.*}} -> (tensor<12x3xf32>, tensor<832xui8>)
func.func @main(%x: tensor<512x64xf32>, %far: tensor<64x1008xf32>, %near: tensor<64x208xf32>, %few: tensor<12x64xf32>) -> (tensor<512xf32>, tensor<512xf32>, tensor<12x3xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %far, contracting_dims = [1] x [0] : (tensor<512x64xf32>, tensor<64x1008xf32>) -> tensor<512x1008xf32>
  %1 = stablehlo.tanh %0 : tensor<512x1008xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1008xf32>, tensor<f32>) -> tensor<512xf32>
  %3 = stablehlo.dot_general %x, %near, contracting_dims = [1] x [0] : (tensor<512x64xf32>, tensor<64x208xf32>) -> tensor<512x208xf32>
  %4 = stablehlo.tanh %3 : tensor<512x208xf32>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x208xf32>, tensor<f32>) -> tensor<512xf32>
  %6 = stablehlo.dot_general %few, %far, contracting_dims = [1] x [0] : (tensor<12x64xf32>, tensor<64x1008xf32>) -> tensor<12x1008xf32>
  %7 = stablehlo.tanh %6 : tensor<12x1008xf32>
  %8, %9 = chlo.top_k(%7, k = 3) : tensor<12x1008xf32> -> (tensor<12x3xf32>, tensor<12x3xi32>)
  return %2, %5, %8 : tensor<512xf32>, tensor<512xf32>, tensor<12x3xf32>
}
