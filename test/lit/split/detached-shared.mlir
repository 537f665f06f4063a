// A product of two values that are made of one, each of them read by the product alone: the one that is read whole is made
// of a copy.
// RUN: %weir opt %s --memory-limit 25000 -o %t
// RUN: FileCheck %s < %t

// CHECK-NOT: tensor<100x100xf32>
// CHECK: func.return
func.func @main(%x: tensor<100xf32>, %y: tensor<100xf32>) -> tensor<100xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<100xf32>) -> tensor<100x100xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<100xf32>) -> tensor<100x100xf32>
  %c = stablehlo.multiply %a, %b : tensor<100x100xf32>
  %k = stablehlo.exponential %c : tensor<100x100xf32>
  %d = stablehlo.sine %k : tensor<100x100xf32>
  %e = stablehlo.cosine %k : tensor<100x100xf32>
  %f = stablehlo.dot_general %d, %e, contracting_dims = [1] x [0] : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
  %g = stablehlo.abs %f : tensor<100x100xf32>
  %h = stablehlo.reduce(%g init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
  return %h : tensor<100xf32>
}
