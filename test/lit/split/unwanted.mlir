// Rows are independent; along columns each step waits for a maximum: a stage each. Rows are one loop that holds nothing. So it is
// known before the loops and the cuts of columns are looked for, which takes longest, that these are no better.
// RUN: %weir opt %s --memory-limit 1MB --tile off --debug 5 2>&1 >/dev/null | FileCheck %s
// CHECK: candidate: dimension 0 of stablehlo.tanh, extent 1000,
// CHECK-SAME: 1 loops, held 0
// CHECK-NEXT: 13 stages of {{[0-9]+}} members: whatever their loops and cuts, they are not wanted
// CHECK-NOT: segments of
// CHECK-NOT: candidate: dimension 1
// CHECK: split stablehlo.tanh: extent 1000
func.func public @main(%x0: tensor<1000x1xf32>, %y: tensor<1x1000xf32>) -> tensor<1000xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x0, dims = [0, 1] : (tensor<1000x1xf32>) -> tensor<1000x1000xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [0, 1] : (tensor<1x1000xf32>) -> tensor<1000x1000xf32>
  %p = stablehlo.add %a, %b : tensor<1000x1000xf32>
  %x1 = stablehlo.tanh %p : tensor<1000x1000xf32>
  %x2 = call @step(%x1) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x3 = call @step(%x2) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x4 = call @step(%x3) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x5 = call @step(%x4) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x6 = call @step(%x5) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x7 = call @step(%x6) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x8 = call @step(%x7) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x9 = call @step(%x8) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x10 = call @step(%x9) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x11 = call @step(%x10) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x12 = call @step(%x11) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %x13 = call @step(%x12) : (tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %r = stablehlo.reduce(%x13 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>
  return %r : tensor<1000xf32>
}
func.func private @step(%x: tensor<1000x1000xf32>) -> tensor<1000x1000xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1000x1000xf32>, tensor<f32>) -> tensor<1000xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %d = stablehlo.subtract %x, %b : tensor<1000x1000xf32>
  %t = stablehlo.tanh %d : tensor<1000x1000xf32>
  return %t : tensor<1000x1000xf32>
}
