// A value that is larger than its product with itself and that the product reads by rows and whole: each reader makes
// it for itself, and nothing of that size is left.
// RUN: %weir opt %s --memory-limit 15000 -o %t
// RUN: FileCheck %s < %t

// CHECK-NOT: tensor<60x70xf32>
// CHECK-NOT: tensor<60x60xf32>
// CHECK: func.return
func.func @main(%x: tensor<60xf32>, %y: tensor<70xf32>) -> tensor<60xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<60xf32>) -> tensor<60x70xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<70xf32>) -> tensor<60x70xf32>
  %c = stablehlo.multiply %a, %b : tensor<60x70xf32>
  %d = stablehlo.exponential %c : tensor<60x70xf32>
  %e = stablehlo.dot_general %d, %d, contracting_dims = [1] x [1] : (tensor<60x70xf32>, tensor<60x70xf32>) -> tensor<60x60xf32>
  %f = stablehlo.abs %e : tensor<60x60xf32>
  %g = stablehlo.reduce(%f init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<60x60xf32>, tensor<f32>) -> tensor<60xf32>
  return %g : tensor<60xf32>
}
