// What a loop puts out beside its maximum is a product plus a sum: others may look for the maximum
// among its elements, so both are of one value, which a call keeps (keep.mlir: within a trip).
// RUN: %weir opt %s --tensor-size-threshold 4000 --stop-after split | FileCheck %s --check-prefix=SPLIT
// RUN: %weir opt %s --tensor-size-threshold 4000 | FileCheck %s

// SPLIT-LABEL: sym_name = "main"
// SPLIT:       %[[SUM:.*]] = "stablehlo.add"({{.*}} {keep = true}
// SPLIT:       "stablehlo.reduce"(%[[SUM]]
// SPLIT-NOT:   keep = true

// CHECK:       %[[SUM:.*]] = "stablehlo.add"({{.*}} -> tensor<13x64xf32>
// CHECK-NEXT:  %[[KEPT:.*]] = "func.call"(%[[SUM]])
// CHECK:       "stablehlo.reduce"(%[[KEPT]]
// CHECK:       "stablehlo.dynamic_update_slice"({{.*}}, %[[KEPT]]

func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %rows = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %columns = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %product = stablehlo.multiply %rows, %columns : tensor<64x64xf32>
  %sum = stablehlo.add %product, %columns : tensor<64x64xf32>
  %most = stablehlo.reduce(%sum init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %other = stablehlo.reduce(%product init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %sum, %most, %product, %other : tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>
}
