// `plan` says which loops are kernels, and counts what they need beside their results.
// REQUIRES: llvm
// RUN: %weir plan %s --memory-limit 20MB --tile on --machine x86-64-v4 | FileCheck %s
// RUN: %weir plan %s --memory-limit 20MB --tile off --machine x86-64-v4 | FileCheck --check-prefix=OFF %s

// CHECK: after, estimated: peak
// CHECK: custom_call
// CHECK: loops:
// CHECK-NEXT: largest slice  run as  instead of
// CHECK-NEXT: {{ }}-  kernel  dot_general tensor<5000x3000xf32>

// OFF: loops:
// OFF-NEXT: largest slice  instead of

module @product {
  func.func public @main(%x: tensor<5000x40xf32>, %y: tensor<3000x40xf32>, %v: tensor<3000xf32>) -> tensor<5000xf32> {
    %s = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<5000x40xf32>, tensor<3000x40xf32>) -> tensor<5000x3000xf32>
    %e = stablehlo.exponential %s : tensor<5000x3000xf32>
    %o = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] : (tensor<5000x3000xf32>, tensor<3000xf32>) -> tensor<5000xf32>
    return %o : tensor<5000xf32>
  }
}
