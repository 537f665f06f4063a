// What is compared with its own maximum is a product plus a sum, which XLA would make once for the
// maximum and once more for the comparison, contracted or not: a call that it may not inline keeps
// the value for both. A value of one rounding needs none, nor one that is not compared.
// RUN: %weir opt %s --tensor-size-threshold 4000 --stop-after split | FileCheck %s --check-prefix=SPLIT
// RUN: %weir opt %s --tensor-size-threshold 4000 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 4000 --platform cuda | FileCheck %s --check-prefix=CUDA

// SPLIT-LABEL: sym_name = "main"
// SPLIT:       "stablehlo.add"({{.*}} {keep = true}
// SPLIT-NOT:   keep = true

// CHECK:       %[[SUM:.*]] = "stablehlo.add"({{.*}} -> tensor<13x64xf32>
// CHECK-NEXT:  %[[KEPT:.*]] = "func.call"(%[[SUM]]) <{callee = @weir.keep.13x64xf32}> {mhlo.frontend_attributes = {inlineable = "false"}}
// CHECK:       "stablehlo.reduce"(%[[KEPT]]
// CHECK:       "stablehlo.maximum"
// CHECK:       "stablehlo.compare"(%[[KEPT]]
// CHECK-NOT:   func.call
// CHECK:       sym_name = "weir.keep.13x64xf32", sym_visibility = "private"

// CUDA-NOT:    keep

func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rows = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %columns = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %product = stablehlo.multiply %rows, %columns : tensor<64x64xf32>
  %sum = stablehlo.add %product, %columns : tensor<64x64xf32>
  %most = stablehlo.reduce(%sum init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %spread = stablehlo.broadcast_in_dim %most, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %mask = stablehlo.compare EQ, %sum, %spread : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %ones = stablehlo.convert %mask : (tensor<64x64xi1>) -> tensor<64x64xf32>
  %count = stablehlo.reduce(%ones init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %other = stablehlo.reduce(%product init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %otherspread = stablehlo.broadcast_in_dim %other, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %othermask = stablehlo.compare EQ, %product, %otherspread : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %otherones = stablehlo.convert %othermask : (tensor<64x64xi1>) -> tensor<64x64xf32>
  %othercount = stablehlo.reduce(%otherones init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %count, %othercount : tensor<64xf32>, tensor<64xf32>
}
