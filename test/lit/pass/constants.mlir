// Constants of other dialects are StableHLO's; numbers that are no tensors stay.
// RUN: %weir opt %s --pass=constants | FileCheck %s

module {
  // CHECK: sym_name = "tensors"
  // CHECK: "stablehlo.constant"() <{value = dense<[2, 3]> : tensor<2xi64>}> : () -> tensor<2xi64>
  // CHECK: "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}> : () -> tensor<f32>
  // CHECK: "stablehlo.constant"() <{value = dense<7> : tensor<3xi32>}> : () -> tensor<3xi32>
  // CHECK: "stablehlo.constant"() <{value = dense<2.500000e+00> : tensor<4xf32>}> : () -> tensor<4xf32>
  func.func @tensors(%x: tensor<4xf32>) -> (tensor<2xi64>, tensor<f32>, tensor<3xi32>, tensor<4xf32>) {
    %0 = arith.constant dense<[2, 3]> : tensor<2xi64>
    %1 = "arith.constant"() <{value = dense<1.5> : tensor<f32>}> : () -> tensor<f32>
    %2 = chlo.constant dense<7> : tensor<3xi32>
    %3 = "chlo.constant_like"(%x) <{value = 2.5 : f32}> : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1, %2, %3 : tensor<2xi64>, tensor<f32>, tensor<3xi32>, tensor<4xf32>
  }

  // CHECK: sym_name = "others"
  // CHECK: "arith.constant"() <{value = 5 : index}> : () -> index
  // CHECK: "arith.constant"() <{value = true}> : () -> i1
  // CHECK: "arith.constant"() <{value = 1.5 : f32}> : () -> f32
  // CHECK: "chlo.constant_like"
  // CHECK: "chlo.constant_like"
  func.func @others(%x: tensor<4xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
    %0 = arith.constant 5 : index
    %1 = arith.constant true
    %2 = arith.constant 1.5 : f32
    %3 = "chlo.constant_like"(%x) <{value = 2 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "chlo.constant_like"(%y) <{value = 2.0 : f32}> : (tensor<?xf32>) -> tensor<?xf32>
    return %3, %4 : tensor<4xf32>, tensor<?xf32>
  }
}
