// RUN: %weir opt %s --memory-limit 929068 --tile on | FileCheck %s

// One value read in two windows, one of which is asked for first while the loop is being built. The
// same loop as one trip, for a kernel, reads what the loop reads: no part of a window that it has
// not made yet.
// CHECK: "stablehlo.while"
// CHECK: tensor<167x6x6xf32>
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2000x6x6xf32>, tensor<500x6x6xf32>) -> tensor<2000x6x6xf32>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2000x6x6xf32>, %arg1: tensor<500x6x6xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<1000x6xf32>}> : () -> tensor<1000x6xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<1000x6x6xf32>}> : () -> tensor<1000x6x6xf32>
    %2 = "stablehlo.dot_general"(%1, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<1000x6x6xf32>, tensor<1000x6xf32>) -> tensor<1000x6xf32>
    %3 = "stablehlo.slice"(%2) <{limit_indices = array<i64: 999, 6>, start_indices = array<i64: 0, 0>, strides = array<i64: 2, 1>}> : (tensor<1000x6xf32>) -> tensor<500x6xf32>
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<1000x6x6xf32>}> : () -> tensor<1000x6x6xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<500x6xf32>}> : () -> tensor<500x6xf32>
    %6 = "stablehlo.dot_general"(%5, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0]>}> : (tensor<500x6xf32>, tensor<500x6xf32>) -> tensor<500x6x6xf32>
    %7 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.pad"(%6, %7) <{edge_padding_high = array<i64: 0, 0, 0>, edge_padding_low = array<i64: 1, 0, 0>, interior_padding = array<i64: 1, 0, 0>}> : (tensor<500x6x6xf32>, tensor<f32>) -> tensor<1000x6x6xf32>
    %9 = "stablehlo.add"(%4, %8) : (tensor<1000x6x6xf32>, tensor<1000x6x6xf32>) -> tensor<1000x6x6xf32>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.pad"(%arg1, %10) <{edge_padding_high = array<i64: 1, 0, 0>, edge_padding_low = array<i64: 0, 0, 0>, interior_padding = array<i64: 1, 0, 0>}> : (tensor<500x6x6xf32>, tensor<f32>) -> tensor<1000x6x6xf32>
    %12 = "stablehlo.add"(%9, %11) : (tensor<1000x6x6xf32>, tensor<1000x6x6xf32>) -> tensor<1000x6x6xf32>
    %13 = "stablehlo.dot_general"(%12, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<1000x6x6xf32>, tensor<1000x6x6xf32>) -> tensor<1000x6x6xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.pad"(%13, %14) <{edge_padding_high = array<i64: 1, 0, 0>, edge_padding_low = array<i64: 0, 0, 0>, interior_padding = array<i64: 1, 0, 0>}> : (tensor<1000x6x6xf32>, tensor<f32>) -> tensor<2000x6x6xf32>
    "func.return"(%15) : (tensor<2000x6x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
