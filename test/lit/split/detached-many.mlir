// A matrix with six readers, one of which reads it by rows and whole: copies for all of them take less than the product
// that they are for.
// RUN: %weir opt %s --memory-limit 25000 -o %t
// RUN: FileCheck %s < %t

// CHECK-NOT: tensor<100x100xf32>
// CHECK: func.return
func.func @main(%x: tensor<100xf32>, %y: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<100xf32>) -> tensor<100x100xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<100xf32>) -> tensor<100x100xf32>
  %c = stablehlo.multiply %a, %b : tensor<100x100xf32>
  %d = stablehlo.exponential %c : tensor<100x100xf32>
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
