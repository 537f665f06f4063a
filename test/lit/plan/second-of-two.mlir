// A call that XLA may not inline and that gives the first of two back has its buffer. One that gives
// the second back has that one's: taken for the first, 262 kB would be missing twice.
// RUN: %weir plan %s | FileCheck %s

// CHECK: temporaries 786 kB

func.func private @second(%0: tensor<256xf32>, %1: tensor<256x256xf32>) -> tensor<256x256xf32> {
  return %1 : tensor<256x256xf32>
}
func.func @main(%a: tensor<256x256xf32>) -> tensor<256xf32> {
  %0 = stablehlo.slice %a [0:1, 0:256] : (tensor<256x256xf32>) -> tensor<1x256xf32>
  %s = stablehlo.reshape %0 : (tensor<1x256xf32>) -> tensor<256xf32>
  %l = stablehlo.dot %a, %a : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = func.call @second(%s, %l) {mhlo.frontend_attributes = {inlineable = "false"}} : (tensor<256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %d = stablehlo.dot %c, %c : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %e = stablehlo.dot %d, %c : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
  return %r : tensor<256xf32>
}
