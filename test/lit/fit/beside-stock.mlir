// A region of a program that fits stands beside what stock XLA does with it. XLA's loop over slices, which nobody would
// run there, does two products as fast as a kernel on a processor that multiplies fast; stock XLA brings what is between
// them through memory.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 1TB --tile auto --machine x86-64-v4,products=540 --debug 3 2>&1 | FileCheck %s
// CHECK: predicted gain 0.9
// CHECK: as 1 kernels: {{[^;]*$}}
// CHECK: "weir_tile"
func.func @main(%q: tensor<8x1024x128xf32>, %k: tensor<8x1024x128xf32>, %v: tensor<8x1024x128xf32>) -> tensor<8x1024x128xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x128xf32>, tensor<8x1024x128xf32>) -> tensor<8x1024x1024xf32>
  %1 = stablehlo.exponential %0 : tensor<8x1024x1024xf32>
  %2 = stablehlo.dot_general %1, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x128xf32>) -> tensor<8x1024x128xf32>
  return %2 : tensor<8x1024x128xf32>
}
