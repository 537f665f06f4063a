// As detached-many.mlir, of a product: its copies would take more than all that is there, so it is made once and stays.
// RUN: not %weir opt %s --memory-limit 105000 2>&1 | FileCheck %s

// CHECK: RESOURCE_EXHAUSTED
// CHECK: f32[100,100]
func.func @main(%x: tensor<100x100xf32>, %y: tensor<100x100xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %d = stablehlo.exponential %p : tensor<100x100xf32>
  %e = stablehlo.dot_general %d, %d, contracting_dims = [1] x [0] : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %f = stablehlo.abs %e : tensor<100x100xf32>
  %g = stablehlo.reduce(%f init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
  %rows = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
  %columns = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
  %h = stablehlo.multiply %d, %e : tensor<100x100xf32>
  %s = stablehlo.reduce(%h init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
  %k = stablehlo.cosine %d : tensor<100x100xf32>
  %t = stablehlo.reduce(%k init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
  return %g, %rows, %columns, %s, %t : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}
