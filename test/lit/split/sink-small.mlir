// A seed that is itself no larger than the threshold, though what makes it holds more (top_k's scratch), isn't moved into a loop: it would not be
// copied there, and reading it from outside is what the loop does already.
// RUN: not %weir opt %s --memory-limit 12516 2>&1 | FileCheck %s
// CHECK: set it to
func.func public @main(%arg0: tensor<7x7xf64>, %22: tensor<7x7xf64>, %9: tensor<7x7x7x7xf64>) -> (tensor<7xf64>, tensor<1xf64>) {
%10 = "stablehlo.sort"(%9) <{dimension = 2 : i64, is_stable = true}> ({
^bb0(%r11_a0: tensor<f64>, %r11_a1: tensor<f64>):
%r11_0 = "stablehlo.compare"(%r11_a0, %r11_a1) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<f64>, tensor<f64>) -> tensor<i1>
"stablehlo.return"(%r11_0) : (tensor<i1>) -> ()
}) : (tensor<7x7x7x7xf64>) -> tensor<7x7x7x7xf64>
%12 = "stablehlo.slice"(%10) <{start_indices = array<i64: 0, 0, 0, 0>, limit_indices = array<i64: 7, 7, 1, 7>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<7x7x7x7xf64>) -> tensor<7x7x1x7xf64>
%13, %14 = "chlo.top_k"(%arg0) <{k = 1 : i64}> : (tensor<7x7xf64>) -> (tensor<7x1xf64>, tensor<7x1xi32>)
%15 = "stablehlo.dot_general"(%13, %13) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<7x1xf64>, tensor<7x1xf64>) -> tensor<1xf64>
%21 = "stablehlo.dot_general"(%13, %12) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1, 0], rhs_contracting_dimensions = [2, 3]>}> : (tensor<7x1xf64>, tensor<7x7x1x7xf64>) -> tensor<7x7xf64>
%23 = "stablehlo.constant"() <{value = dense<0.000000000e+00> : tensor<f64>}> : () -> tensor<f64>
%24 = "stablehlo.constant"() <{value = dense<0xFFF0000000000000> : tensor<f64>}> : () -> tensor<f64>
%26, %27 = "stablehlo.reduce"(%21, %22, %23, %24) <{dimensions = array<i64: 1>}> ({
^bb0(%r25_a0: tensor<f64>, %r25_a1: tensor<f64>, %r25_a2: tensor<f64>, %r25_a3: tensor<f64>):
%r25_0 = "stablehlo.add"(%r25_a0, %r25_a2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
%r25_1 = "stablehlo.maximum"(%r25_a1, %r25_a3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
"stablehlo.return"(%r25_0, %r25_1) : (tensor<f64>, tensor<f64>) -> ()
}) : (tensor<7x7xf64>, tensor<7x7xf64>, tensor<f64>, tensor<f64>) -> (tensor<7xf64>, tensor<7xf64>)
return %26, %15 : tensor<7xf64>, tensor<1xf64>
}
