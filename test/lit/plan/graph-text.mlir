// What the estimate plans, as `weir_peak --graph` prints it: an exponential, its tanh and the sum are one
// fusion.
// RUN: %peak --graph %s | FileCheck %s
// CHECK: computation 1 (entry), root %[[R:[0-9]+]]
// CHECK-NEXT: %[[X:[0-9]+]] = f32[8,6] parameter#0
// CHECK-NEXT: %[[R]] = f32[8] fusion<reduce> %[[X]]
func.func public @main(%x: tensor<8x6xf32>) -> tensor<8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<8x6xf32>
  %t = stablehlo.tanh %e : tensor<8x6xf32>
  %s = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}
