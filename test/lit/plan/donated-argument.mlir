// An argument that is donated to the second result, as its own attribute says: what is split donates it.
// The loop that makes that result reads the argument as a whole: XLA makes it beside it, and copies it.
// RUN: %weir plan %s --memory-limit 1MB | FileCheck %s
// RUN: %weir opt %s --memory-limit 1MB -o %t.mlir 2>%t.err
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.mlir
// RUN: %peak %t.mlir | FileCheck %s --check-prefix=SPLIT
// RUN: %weir opt %s --memory-limit 1MB --emit bytecode -o %t.mlirbc 2>%t.err
// RUN: %weir opt %t.mlirbc --emit text -o %t.again.mlir
// RUN: FileCheck %s --check-prefix=TEXT --input-file=%t.again.mlir
// RUN: %peak %t.again.mlir | FileCheck %s --check-prefix=SPLIT
// CHECK: peak 16.7 MB -> 866 kB
// CHECK: before, estimated: peak 16.7 MB = arguments 320 kB + results 320 kB - donated 320 kB +
// TEXT: {arg_attrs = [{tf.aliasing_output = 1 : i32}]
// SPLIT: 320000 320020 320000 545632 865652
module @step {
  func.func public @main(%w: tensor<2000x40xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<f32>, tensor<2000x40xf32>) {
    %0 = stablehlo.dot_general %w, %w, contracting_dims = [1] x [1] : (tensor<2000x40xf32>, tensor<2000x40xf32>) -> tensor<2000x2000xf32>
    %1 = stablehlo.exponential %0 : tensor<2000x2000xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<2000x2000xf32>, tensor<2000x40xf32>) -> tensor<2000x40xf32>
    %3 = stablehlo.subtract %w, %2 : tensor<2000x40xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<2000x2000xf32>, tensor<f32>) -> tensor<f32>
    return %4, %3 : tensor<f32>, tensor<2000x40xf32>
  }
}
