// A product's numbers in the long spelling of an attribute, which MLIR reads, too.
// RUN: %weir opt %s --tensor-size-threshold 2000 | FileCheck %s

// CHECK: "stablehlo.dot_general"{{.*}} -> tensor<{{[0-9]+}}x48xf32>
// CHECK: "stablehlo.exponential"(%{{[0-9]+}}) : (tensor<{{[0-9]+}}x48xf32>)
func.func public @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo<dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>>}> : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  %e = stablehlo.exponential %0 : tensor<64x48xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<64x48xf32>, tensor<f32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
