// A maximum over the factor at one position of a value, and along another of its dimensions at a second one: the first loop puts it out
// by the second position, and what the next loop reads is that, whole, not the running maximum of the first.
// RUN: %weir opt %s --tensor-size-threshold 48 --stop-after split | FileCheck %s
// CHECK: %[[FIRST:[0-9]+]]:3 = "weir.loop"(
// CHECK: "weir.yield"(%{{[0-9]+}}#1, %{{[0-9]+}}#0, %{{[0-9]+}})
// CHECK: %[[SECOND:[0-9]+]] = "weir.loop"(%arg2, %[[FIRST]]#2, %[[FIRST]]#1, %arg1, %arg0)
// CHECK: "func.return"(%[[SECOND]], %[[FIRST]]#0)
func.func public @main(%68: tensor<4x4x4xf64>, %59: tensor<4x4x4xf64>, %44: tensor<4x4x4xf64>, %42: tensor<4x4xf64>, %40: tensor<4x4xf64>) -> (tensor<4x4x4xf64>, tensor<4x4x1xf64>) {
%43 = "stablehlo.multiply"(%42, %40) : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
%45 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x4xf64>) -> tensor<4x4x4xf64>
%46 = "stablehlo.multiply"(%44, %45) : (tensor<4x4x4xf64>, tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%47 = "stablehlo.constant"() <{value = dense<0xFFF0000000000000> : tensor<f64>}> : () -> tensor<f64>
%49 = "stablehlo.reduce_window"(%46, %47) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<0> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 1, 1>, window_strides = array<i64: 1, 1, 1>}> ({
^bb0(%r48_a0: tensor<f64>, %r48_a1: tensor<f64>):
%r48_0 = "stablehlo.maximum"(%r48_a0, %r48_a1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
"stablehlo.return"(%r48_0) : (tensor<f64>) -> ()
}) : (tensor<4x4x4xf64>, tensor<f64>) -> tensor<4x4x4xf64>
%50 = "stablehlo.constant"() <{value = dense<0xFFF0000000000000> : tensor<f64>}> : () -> tensor<f64>
%52 = "stablehlo.reduce"(%49, %50) <{dimensions = array<i64: 0>}> ({
^bb0(%r51_a0: tensor<f64>, %r51_a1: tensor<f64>):
%r51_0 = "stablehlo.maximum"(%r51_a0, %r51_a1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
"stablehlo.return"(%r51_0) : (tensor<f64>) -> ()
}) : (tensor<4x4x4xf64>, tensor<f64>) -> tensor<4x4xf64>
%53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x4xf64>) -> tensor<4x4x4xf64>
%54 = "stablehlo.subtract"(%49, %53) : (tensor<4x4x4xf64>, tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%55 = "stablehlo.exponential"(%54) : (tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%60 = "stablehlo.abs"(%59) : (tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%61 = "stablehlo.divide"(%55, %60) : (tensor<4x4x4xf64>, tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%62 = "stablehlo.dot_general"(%61, %61) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<4x4x4xf64>, tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%69 = "stablehlo.add"(%62, %68) : (tensor<4x4x4xf64>, tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%70 = "stablehlo.triangular_solve"(%69, %55) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4x4xf64>, tensor<4x4x4xf64>) -> tensor<4x4x4xf64>
%71 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64: 0, 2, 3>}> : (tensor<4x4x4xf64>) -> tensor<4x1x4x4xf64>
%76 = "stablehlo.sine"(%71) : (tensor<4x1x4x4xf64>) -> tensor<4x1x4x4xf64>
%77 = "stablehlo.dot_general"(%76, %60) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [2, 0], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>}> : (tensor<4x1x4x4xf64>, tensor<4x4x4xf64>) -> tensor<4x4x1xf64>
return %70, %77 : tensor<4x4x4xf64>, tensor<4x4x1xf64>
}
