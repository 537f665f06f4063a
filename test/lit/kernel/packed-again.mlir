// Work items of a kernel with products have few rows, so what is packed for the rows of an item is
// made once for each of many items: tanh(x w), 20,000 x 512, more than twenty times. XLA's loop,
// which makes it once, is several times as fast.
// RUN: %weir opt %s --memory-limit 40MB --tile auto --machine x86-64-v4 --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK-NOT: {{[ ]}}24 rows an item
// CHECK: weir: no kernel: predicted to gain too little
func.func @main(%x: tensor<20000x16xf32>, %y: tensor<20000x16xf32>, %w: tensor<16x512xf32>) -> tensor<512x512xf32> {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<20000x16xf32>, tensor<16x512xf32>) -> tensor<20000x512xf32>
  %b = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<20000x16xf32>, tensor<16x512xf32>) -> tensor<20000x512xf32>
  %f = stablehlo.tanh %a : tensor<20000x512xf32>
  %g = stablehlo.tanh %b : tensor<20000x512xf32>
  %c = stablehlo.dot_general %f, %g, contracting_dims = [0] x [0] : (tensor<20000x512xf32>, tensor<20000x512xf32>) -> tensor<512x512xf32>
  return %c : tensor<512x512xf32>
}
