// A pad that adds nothing is no node of the estimate, one that shifts is.
// RUN: %peak --graph %s | FileCheck %s
// CHECK: computation 1 (entry)
// CHECK-COUNT-1: pad
// CHECK-NOT: pad
func.func @main(%x: tensor<300x40xf32>) -> (tensor<300x40xf32>, tensor<300x40xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %z, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<300x40xf32>, tensor<f32>) -> tensor<300x40xf32>
  %1 = stablehlo.pad %x, %z, low = [1, 0], high = [-1, 0], interior = [0, 0] : (tensor<300x40xf32>, tensor<f32>) -> tensor<300x40xf32>
  return %0, %1 : tensor<300x40xf32>, tensor<300x40xf32>
}
