// What XLA fuses into a reduction and keeps nowhere: sets in common, a number for each pair. A kernel makes 98 MB in registers, and
// writes the 1.5 MB that are left.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v3 | FileCheck %s
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 --skip fit | diff %s -

// CHECK: "stablehlo.custom_call"(%arg0, %arg1
// CHECK-SAME: call_target_name = "weir_tile"
// CHECK-NOT: 480x800x64
// CHECK: "func.return"

module @jaccard {
  func.func @main(%a: tensor<480x64xi1>, %b: tensor<800x64xi1>) -> tensor<480x800xi32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<480x64xi1>) -> tensor<480x800x64xi1>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<800x64xi1>) -> tensor<480x800x64xi1>
    %2 = stablehlo.and %0, %1 : tensor<480x800x64xi1>
    %3 = stablehlo.convert %2 : (tensor<480x800x64xi1>) -> tensor<480x800x64xi32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<480x800x64xi32>, tensor<i32>) -> tensor<480x800xi32>
    return %4 : tensor<480x800xi32>
  }
}
