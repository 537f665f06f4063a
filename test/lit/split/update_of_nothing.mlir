// An update without elements updates nothing. As long as it is there, no slice reads a part of it.
// RUN: %weir opt %s --tensor-size-threshold 1000 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 1000 --skip simplify | FileCheck %s --check-prefix=KEPT
// CHECK-NOT: tensor<64x16xf32>, tensor<64x0xf32>
// CHECK: "stablehlo.exponential"
// CHECK-NOT: tensor<64x16xf32>, tensor<64x0xf32>
// CHECK: "stablehlo.while"
// CHECK-NOT: tensor<64x16xf32>, tensor<64x0xf32>
// KEPT: "stablehlo.dynamic_update_slice"(%{{.*}}) : (tensor<64x16xf32>, tensor<64x0xf32>
func.func @main(%a: tensor<64xf32>, %none: tensor<64x0xf32>, %i: tensor<i32>) -> tensor<16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<64xf32>) -> tensor<64x16xf32>
  %e = stablehlo.exponential %b : tensor<64x16xf32>
  %u = stablehlo.dynamic_update_slice %e, %none, %i, %i : (tensor<64x16xf32>, tensor<64x0xf32>, tensor<i32>, tensor<i32>) -> tensor<64x16xf32>
  %s = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x16xf32>, tensor<f32>) -> tensor<16xf32>
  return %s : tensor<16xf32>
}
