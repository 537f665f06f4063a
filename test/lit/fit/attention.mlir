// A program that fits is left to the byte, unless a region would be faster as a kernel and may be one. Both results of the kernel
// come out of one call; the scores are in memory nowhere.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --memory-limit 10GB --tile on --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --tile auto --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 2>&1 >/dev/null | diff /dev/null -
// RUN: %weir opt %s --memory-limit 25MB --tile auto --machine x86-64-v4 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: %weir plan %s --memory-limit 10GB --tile auto --machine x86-64-v4 | FileCheck %s --check-prefix=PLAN
// RUN: %weir opt %s --memory-limit 10GB --tile off --machine x86-64-v4 | diff %s -
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 --platform cuda | diff %s -
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 --skip fit | diff %s -
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 --skip kernels | diff %s -
// RUN: env WEIR_LLVM=/none %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 | diff %s -

// CHECK: %0:3 = "stablehlo.custom_call"(%arg0, %arg1, %arg2
// CHECK-SAME: call_target_name = "weir_tile"
// CHECK-SAME: -> (tensor<4x1024xf32>, tensor<4x1024x64xf32>, tensor<{{[0-9]+}}xui8>)
// CHECK-NEXT: %1 = "stablehlo.sine"(%0#1)
// CHECK-NEXT: "func.return"(%1, %0#0)

// All temporaries together are above the limit here, so that the program as it came would want other options: these stay.
// OPTIONS: call_target_name = "weir_tile"
// OPTIONS: compile with xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT
// OPTIONS-NOT: compile with

// PLAN: outcome  fits; 1 region as kernel, predicted {{[1-9].*}} times as fast
// PLAN: 1024       1024          1 {{.*}}-  kernel  dot_general

module @attention {
  func.func public @main(%q: tensor<4x1024x64xf32>, %k: tensor<4x1024x64xf32>, %v: tensor<4x1024x64xf32>) -> (tensor<4x1024x64xf32>, tensor<4x1024xf32>) {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1024x64xf32>, tensor<4x1024x64xf32>) -> tensor<4x1024x1024xf32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x1024x1024xf32>, tensor<f32>) -> tensor<4x1024xf32>
    %top = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x1024xf32>) -> tensor<4x1024x1024xf32>
    %x = stablehlo.subtract %s, %top : tensor<4x1024x1024xf32>
    %e = stablehlo.exponential %x : tensor<4x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x1024x1024xf32>, tensor<f32>) -> tensor<4x1024xf32>
    %sum = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x1024xf32>) -> tensor<4x1024x1024xf32>
    %p = stablehlo.divide %e, %sum : tensor<4x1024x1024xf32>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x1024x1024xf32>, tensor<4x1024x64xf32>) -> tensor<4x1024x64xf32>
    %r = stablehlo.sine %o : tensor<4x1024x64xf32>
    return %r, %l : tensor<4x1024x64xf32>, tensor<4x1024xf32>
  }
}
