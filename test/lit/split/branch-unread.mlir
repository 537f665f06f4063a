// The block's end reads nothing of the branches: what is sunk into them still comes before it.
// RUN: %weir opt %s --pass=split --tensor-size-threshold 8 | FileCheck %s

// CHECK-NOT: "stablehlo.case"
// CHECK: "func.return"(%arg2)
func.func @main(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    %1 = stablehlo.negate %y : tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
