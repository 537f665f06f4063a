// A kernel multiplies by 1 / c, as XLA does, where c is one number; it divides where 1 / c is no normal number or c is
// none: %y by element, and 1e39, of which 1 / c is denormal in f32.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 | FileCheck %s

// CHECK: stablehlo.custom_call
// CHECK-SAME: dense<3.33333343e-01>
// CHECK-SAME: stablehlo.multiply
// CHECK-SAME: stablehlo.divide
// CHECK-SAME: dense<2.000000e+38>
// CHECK-SAME: stablehlo.divide
// CHECK-SAME: stablehlo.exponential
module @reciprocals {
  func.func public @main(%x: tensor<100xf32>, %y: tensor<300xf32>) -> tensor<100xf32> {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %three = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %threes = stablehlo.broadcast_in_dim %three, dims = [] : (tensor<f32>) -> tensor<100x300xf32>
    %large = stablehlo.constant dense<2.000000e+38> : tensor<100x300xf32>
    %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<100xf32>) -> tensor<100x300xf32>
    %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<300xf32>) -> tensor<100x300xf32>
    %c = stablehlo.divide %a, %threes : tensor<100x300xf32>
    %d = stablehlo.divide %c, %b : tensor<100x300xf32>
    %e = stablehlo.divide %d, %large : tensor<100x300xf32>
    %f = stablehlo.exponential %e : tensor<100x300xf32>
    %g = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x300xf32>, tensor<f32>) -> tensor<100xf32>
    return %g : tensor<100xf32>
  }
}
