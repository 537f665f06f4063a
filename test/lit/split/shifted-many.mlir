// Nine positions of a matrix of products are as many as a region may have. Its loops ask for one more while they are made,
// and the body of the whole extent, which kernels need, asks for the same as the sliced one.
// RUN: %weir opt %s --tensor-size-threshold 10000 --tile on | FileCheck %s

// CHECK: "stablehlo.while"
"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = () -> tensor<48x48x48xf32>, sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x46xf32>}> : () -> tensor<48x48x46xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x1xf32>}> : () -> tensor<48x48x1xf32>
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x1xf32>}> : () -> tensor<48x48x1xf32>
    %3 = "stablehlo.concatenate"(%2, %0, %1) <{dimension = 2 : i64}> : (tensor<48x48x1xf32>, tensor<48x48x46xf32>, tensor<48x48x1xf32>) -> tensor<48x48x48xf32>
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x48x1xf32>}> : () -> tensor<48x48x48x1xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x48x1xf32>}> : () -> tensor<48x48x48x1xf32>
    %6 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<48x48x48xf32>) -> tensor<48x48x48x1xf32>
    %7 = "stablehlo.concatenate"(%4, %5, %6) <{dimension = 3 : i64}> : (tensor<48x48x48x1xf32>, tensor<48x48x48x1xf32>, tensor<48x48x48x1xf32>) -> tensor<48x48x48x3xf32>
    %8 = "stablehlo.dot_general"(%7, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1, 2], rhs_batching_dimensions = [0, 1, 2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<48x48x48x3xf32>, tensor<48x48x48x3xf32>) -> tensor<48x48x48x3x3xf32>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x48x3x3xf32>}> : () -> tensor<48x48x48x3x3xf32>
    %10 = "stablehlo.slice"(%8) <{limit_indices = array<i64: 48, 48, 48, 3, 3>, start_indices = array<i64: 0, 0, 1, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<48x48x48x3x3xf32>) -> tensor<48x48x47x3x3xf32>
    %11 = "stablehlo.slice"(%8) <{limit_indices = array<i64: 48, 48, 1, 3, 3>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<48x48x48x3x3xf32>) -> tensor<48x48x1x3x3xf32>
    %12 = "stablehlo.concatenate"(%10, %11) <{dimension = 2 : i64}> : (tensor<48x48x47x3x3xf32>, tensor<48x48x1x3x3xf32>) -> tensor<48x48x48x3x3xf32>
    %13 = "stablehlo.add"(%9, %12) : (tensor<48x48x48x3x3xf32>, tensor<48x48x48x3x3xf32>) -> tensor<48x48x48x3x3xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x48x3x3xf32>}> : () -> tensor<48x48x48x3x3xf32>
    %15 = "stablehlo.slice"(%8) <{limit_indices = array<i64: 48, 48, 0, 3, 3>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<48x48x48x3x3xf32>) -> tensor<48x48x0x3x3xf32>
    %16 = "stablehlo.concatenate"(%14, %15) <{dimension = 2 : i64}> : (tensor<48x48x48x3x3xf32>, tensor<48x48x0x3x3xf32>) -> tensor<48x48x48x3x3xf32>
    %17 = "stablehlo.add"(%13, %16) : (tensor<48x48x48x3x3xf32>, tensor<48x48x48x3x3xf32>) -> tensor<48x48x48x3x3xf32>
    %18 = "stablehlo.slice"(%8) <{limit_indices = array<i64: 48, 48, 48, 3, 3>, start_indices = array<i64: 0, 0, 47, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<48x48x48x3x3xf32>) -> tensor<48x48x1x3x3xf32>
    %19 = "stablehlo.slice"(%8) <{limit_indices = array<i64: 48, 48, 47, 3, 3>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<48x48x48x3x3xf32>) -> tensor<48x48x47x3x3xf32>
    %20 = "stablehlo.concatenate"(%18, %19) <{dimension = 2 : i64}> : (tensor<48x48x1x3x3xf32>, tensor<48x48x47x3x3xf32>) -> tensor<48x48x48x3x3xf32>
    %21 = "stablehlo.add"(%17, %20) : (tensor<48x48x48x3x3xf32>, tensor<48x48x48x3x3xf32>) -> tensor<48x48x48x3x3xf32>
    %22:3 = "stablehlo.custom_call"(%21) <{api_version = 1 : i32, backend_config = "", call_target_name = "lapack_ssyevd_ffi", called_computations = [], has_side_effect = false, operand_layouts = [dense<[3, 4, 2, 1, 0]> : tensor<5xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[3, 4, 2, 1, 0]> : tensor<5xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[2, 1, 0]> : tensor<3xindex>]}> : (tensor<48x48x48x3x3xf32>) -> (tensor<48x48x48x3x3xf32>, tensor<48x48x48x3xf32>, tensor<48x48x48xi32>)
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<48x48x48xf32>}> : () -> tensor<48x48x48xf32>
    %24 = "stablehlo.slice"(%22#1) <{limit_indices = array<i64: 48, 48, 48, 1>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<48x48x48x3xf32>) -> tensor<48x48x48x1xf32>
    %25 = "stablehlo.reshape"(%24) : (tensor<48x48x48x1xf32>) -> tensor<48x48x48xf32>
    %26 = "stablehlo.subtract"(%23, %25) : (tensor<48x48x48xf32>, tensor<48x48x48xf32>) -> tensor<48x48x48xf32>
    "func.return"(%26) : (tensor<48x48x48xf32>) -> ()
  }) : () -> ()
}) : () -> ()
