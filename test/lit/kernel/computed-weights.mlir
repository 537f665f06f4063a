// Two products one after the other whose weights are computed: these are made once for a chunk of rows,
// so that chunks are long; a prediction counts how often. 24 rows an item took three times as long.
// RUN: %weir opt %s --memory-limit 9MB --tile auto --machine x86-64-v4 --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK: weir: kernel: inner 1024 column 4096 row 256 point 256; 1 passes, 1 + 0 reductions; {{.*}} 132 rows an item
func.func @main(%x: tensor<256x1024xf32>, %w: tensor<1024x4096xi8>, %s: tensor<4096xf32>, %v: tensor<4096x256xi8>, %t: tensor<256xf32>) -> tensor<256x256xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<256x4096xf32>
  %wf = stablehlo.convert %w : (tensor<1024x4096xi8>) -> tensor<1024x4096xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4096xf32>) -> tensor<1024x4096xf32>
  %ws = stablehlo.multiply %wf, %sb : tensor<1024x4096xf32>
  %h = stablehlo.dot_general %x, %ws, contracting_dims = [1] x [0] : (tensor<256x1024xf32>, tensor<1024x4096xf32>) -> tensor<256x4096xf32>
  %r = stablehlo.maximum %h, %zero : tensor<256x4096xf32>
  %vf = stablehlo.convert %v : (tensor<4096x256xi8>) -> tensor<4096x256xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<256xf32>) -> tensor<4096x256xf32>
  %vt = stablehlo.multiply %vf, %tb : tensor<4096x256xf32>
  %y = stablehlo.dot_general %r, %vt, contracting_dims = [1] x [0] : (tensor<256x4096xf32>, tensor<4096x256xf32>) -> tensor<256x256xf32>
  return %y : tensor<256x256xf32>
}
