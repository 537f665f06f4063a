// What TensorFlow and PyTorch still write: mhlo.copy is its operand, erf comes in three spellings.
// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s
// CHECK: ^bb0(%[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<2xf32>)
// CHECK: %[[C:.*]] = "stablehlo.optimization_barrier"(%[[X]]) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[D:.*]] = "stablehlo.optimization_barrier"(%[[C]]) : (tensor<3xf32>) -> tensor<3xf32>
// CHECK: %[[E:.*]] = "chlo.erf"(%[[D]])
// CHECK: %[[F:.*]] = "chlo.erf"(%[[E]])
// CHECK: %[[G:.*]] = "chlo.erf"(%[[F]])
// CHECK: %[[H:.*]] = "stablehlo.set_dimension_size"(%[[Y]]
// CHECK: "func.return"(%[[G]], %[[H]])
func.func @main(%x: tensor<3xf32>, %y: tensor<2xf32>) -> (tensor<3xf32>, tensor<2xf32>) {
  %0 = mhlo.copy %x : tensor<3xf32>
  %1 = "mhlo.copy"(%0) : (tensor<3xf32>) -> tensor<3xf32>
  %2 = mhlo.erf %1 : tensor<3xf32>
  %3 = "mhlo.erf"(%2) : (tensor<3xf32>) -> tensor<3xf32>
  %4 = stablehlo.custom_call @mhlo.erf(%3) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %5 = stablehlo.set_dimension_size %4, %three, dim = 0 : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %6 = stablehlo.set_dimension_size %y, %one, dim = 0 : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return %5, %6 : tensor<3xf32>, tensor<2xf32>
}
