// What a trip has shrinks at most as its slices do. Of slices of 1 MB it is known that they do not fit, so they are not tried.
// RUN: %weir opt %s --memory-limit 16000000 --tile off --debug 2 2>&1 | FileCheck %s

// CHECK: slices of 2000000 bytes: estimated peak 21004448, target 16000000
// CHECK-NOT: slices of 1000000 bytes
// CHECK: slices of 250000 bytes: estimated peak 14556832, target 16000000
func.func public @main(%x: tensor<16384x64xf32>, %v: tensor<16384x64xf32>) -> tensor<16384x64xf32> {
  %k = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<16384x64xf32>, tensor<16384x64xf32>) -> tensor<16384x16384xf32>
  %s = stablehlo.sine %k : tensor<16384x16384xf32>
  %p = stablehlo.dot_general %s, %k, contracting_dims = [1] x [1] : (tensor<16384x16384xf32>, tensor<16384x16384xf32>) -> tensor<16384x16384xf32>
  %e = stablehlo.exponential %p : tensor<16384x16384xf32>
  %y = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] : (tensor<16384x16384xf32>, tensor<16384x64xf32>) -> tensor<16384x64xf32>
  return %y : tensor<16384x64xf32>
}
