// Held in the order that saves memory, which is slower than the program's own; in XLA's loops the sines would take
// as long as they do there, so that slices alone gain nothing. A kernel does, though no value has the 4 MB that one is
// looked for from where the program fits.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 3MB --tile auto --machine x86-64-v3 | FileCheck %s
// RUN: %weir opt %s --memory-limit 3MB --tile off --machine x86-64-v3 -o %t 2>&1 | FileCheck %s --check-prefix=OFF
// CHECK: call_target_name = "weir_tile"
// OFF-NOT: loop-invariant
// OFF: compile with xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED
module @periodogram {
  func.func public @main(%arg0: tensor<200xf32>, %arg1: tensor<3000xf32>, %arg2: tensor<3000xf32>) -> (tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>) {
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %w = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<200xf32>) -> tensor<200x3000xf32>
    %t = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3000xf32>) -> tensor<200x3000xf32>
    %wt = stablehlo.multiply %w, %t : tensor<200x3000xf32>
    %cos = stablehlo.cosine %wt : tensor<200x3000xf32>
    %sin = stablehlo.sine %wt : tensor<200x3000xf32>
    %a = stablehlo.dot_general %cos, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<200x3000xf32>, tensor<3000xf32>) -> tensor<200xf32>
    %cos2 = stablehlo.multiply %cos, %cos : tensor<200x3000xf32>
    %b = stablehlo.reduce(%cos2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<200x3000xf32>, tensor<f32>) -> tensor<200xf32>
    %c = stablehlo.dot_general %sin, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<200x3000xf32>, tensor<3000xf32>) -> tensor<200xf32>
    %sin2 = stablehlo.multiply %sin, %sin : tensor<200x3000xf32>
    %d = stablehlo.reduce(%sin2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<200x3000xf32>, tensor<f32>) -> tensor<200xf32>
    return %a, %b, %c, %d : tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>
  }
}
