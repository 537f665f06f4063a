// RUN: %weir opt %s --machine x86-64-v3 --pass=materialise | FileCheck %s
// CHECK-NOT: weir.keep

module {
  // What is cheap; what is read twice; what all read at its own place; what only lies elsewhere; a
  // row that is repeated along itself.
  func.func public @main(%x: tensor<66x64xf32>, %n: tensor<66xf32>) -> (tensor<63x64xf32>, tensor<63x64xf32>, tensor<66x64xf32>, tensor<63x64xf32>, tensor<66x64xf32>) {
    %a = stablehlo.add %x, %x : tensor<66x64xf32>
    %a0 = stablehlo.slice %a [0:63, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %a1 = stablehlo.slice %a [1:64, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %a2 = stablehlo.slice %a [2:65, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %a3 = stablehlo.add %a0, %a1 : tensor<63x64xf32>
    %a4 = stablehlo.add %a3, %a2 : tensor<63x64xf32>
    %b = stablehlo.exponential %x : tensor<66x64xf32>
    %b0 = stablehlo.slice %b [0:63, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %b1 = stablehlo.slice %b [3:66, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %b2 = stablehlo.subtract %b1, %b0 : tensor<63x64xf32>
    %c = stablehlo.sqrt %x : tensor<66x64xf32>
    %c0 = stablehlo.multiply %c, %c : tensor<66x64xf32>
    %c1 = stablehlo.add %c, %c0 : tensor<66x64xf32>
    %c2 = stablehlo.multiply %c1, %c : tensor<66x64xf32>
    %c3 = stablehlo.subtract %c2, %c : tensor<66x64xf32>
    %d0 = stablehlo.slice %x [0:63, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %d1 = stablehlo.slice %x [1:64, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %d2 = stablehlo.slice %x [2:65, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %d3 = stablehlo.add %d0, %d1 : tensor<63x64xf32>
    %d4 = stablehlo.add %d3, %d2 : tensor<63x64xf32>
    %e = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<66xf32>) -> tensor<66x64xf32>
    %e0 = stablehlo.multiply %e, %x : tensor<66x64xf32>
    return %a4, %b2, %c3, %d4, %e0 : tensor<63x64xf32>, tensor<63x64xf32>, tensor<66x64xf32>, tensor<63x64xf32>, tensor<66x64xf32>
  }
}
