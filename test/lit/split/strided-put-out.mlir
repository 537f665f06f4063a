// An odd-even prefix sum: a window that a stride reads from ends before its slice does, and what is put out has all
// elements of its slices.
// RUN: not %weir opt %s --memory-limit 510000 --search-ops 2M 2>&1 | FileCheck %s

// CHECK: RESOURCE_EXHAUSTED: no way found under the limit of 510 kB

"builtin.module"() <{sym_name = "jit__lambda"}> ({
  "func.func"() <{function_type = (tensor<251x16xcomplex<f32>>, tensor<251x32xcomplex<f32>>, tensor<251x65xcomplex<f32>>, tensor<251x131xcomplex<f32>>) -> tensor<263xcomplex<f32>>, sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<251x16xcomplex<f32>>, %arg1: tensor<251x32xcomplex<f32>>, %arg2: tensor<251x65xcomplex<f32>>, %arg3: tensor<251x131xcomplex<f32>>):
    %0 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x263xcomplex<f32>>}> : () -> tensor<251x263xcomplex<f32>>
    %1 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x131xcomplex<f32>>}> : () -> tensor<251x131xcomplex<f32>>
    %2 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x65xcomplex<f32>>}> : () -> tensor<251x65xcomplex<f32>>
    %3 = "stablehlo.slice"(%1) <{limit_indices = array<i64: 251, 131>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<251x131xcomplex<f32>>) -> tensor<251x65xcomplex<f32>>
    %4 = "stablehlo.add"(%2, %3) : (tensor<251x65xcomplex<f32>>, tensor<251x65xcomplex<f32>>) -> tensor<251x65xcomplex<f32>>
    %5 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x32xcomplex<f32>>}> : () -> tensor<251x32xcomplex<f32>>
    %6 = "stablehlo.slice"(%4) <{limit_indices = array<i64: 251, 65>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<251x65xcomplex<f32>>) -> tensor<251x32xcomplex<f32>>
    %7 = "stablehlo.add"(%5, %6) : (tensor<251x32xcomplex<f32>>, tensor<251x32xcomplex<f32>>) -> tensor<251x32xcomplex<f32>>
    %8 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x16xcomplex<f32>>}> : () -> tensor<251x16xcomplex<f32>>
    %9 = "stablehlo.slice"(%7) <{limit_indices = array<i64: 251, 32>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<251x32xcomplex<f32>>) -> tensor<251x16xcomplex<f32>>
    %10 = "stablehlo.add"(%8, %9) : (tensor<251x16xcomplex<f32>>, tensor<251x16xcomplex<f32>>) -> tensor<251x16xcomplex<f32>>
    %11 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x8xcomplex<f32>>}> : () -> tensor<251x8xcomplex<f32>>
    %12 = "stablehlo.slice"(%10) <{limit_indices = array<i64: 251, 16>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<251x16xcomplex<f32>>) -> tensor<251x8xcomplex<f32>>
    %13 = "stablehlo.add"(%11, %12) : (tensor<251x8xcomplex<f32>>, tensor<251x8xcomplex<f32>>) -> tensor<251x8xcomplex<f32>>
    %14 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x4xcomplex<f32>>}> : () -> tensor<251x4xcomplex<f32>>
    %15 = "stablehlo.slice"(%13) <{limit_indices = array<i64: 251, 8>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<251x8xcomplex<f32>>) -> tensor<251x4xcomplex<f32>>
    %16 = "stablehlo.add"(%14, %15) : (tensor<251x4xcomplex<f32>>, tensor<251x4xcomplex<f32>>) -> tensor<251x4xcomplex<f32>>
    %17 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x2xcomplex<f32>>}> : () -> tensor<251x2xcomplex<f32>>
    %18 = "stablehlo.slice"(%16) <{limit_indices = array<i64: 251, 4>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<251x4xcomplex<f32>>) -> tensor<251x2xcomplex<f32>>
    %19 = "stablehlo.add"(%17, %18) : (tensor<251x2xcomplex<f32>>, tensor<251x2xcomplex<f32>>) -> tensor<251x2xcomplex<f32>>
    %20 = "stablehlo.slice"(%19) <{limit_indices = array<i64: 251, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<251x2xcomplex<f32>>) -> tensor<251x1xcomplex<f32>>
    %21 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %22 = "stablehlo.pad"(%20, %21) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 1>}> : (tensor<251x1xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x2xcomplex<f32>>
    %23 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x2xcomplex<f32>>}> : () -> tensor<251x2xcomplex<f32>>
    %24 = "stablehlo.add"(%22, %23) : (tensor<251x2xcomplex<f32>>, tensor<251x2xcomplex<f32>>) -> tensor<251x2xcomplex<f32>>
    %25 = "stablehlo.slice"(%24) <{limit_indices = array<i64: 251, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<251x2xcomplex<f32>>) -> tensor<251x1xcomplex<f32>>
    %26 = "stablehlo.slice"(%16) <{limit_indices = array<i64: 251, 4>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 2>}> : (tensor<251x4xcomplex<f32>>) -> tensor<251x1xcomplex<f32>>
    %27 = "stablehlo.add"(%25, %26) : (tensor<251x1xcomplex<f32>>, tensor<251x1xcomplex<f32>>) -> tensor<251x1xcomplex<f32>>
    %28 = "stablehlo.slice"(%16) <{limit_indices = array<i64: 251, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<251x4xcomplex<f32>>) -> tensor<251x1xcomplex<f32>>
    %29 = "stablehlo.concatenate"(%28, %27) <{dimension = 1 : i64}> : (tensor<251x1xcomplex<f32>>, tensor<251x1xcomplex<f32>>) -> tensor<251x2xcomplex<f32>>
    %30 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %31 = "stablehlo.pad"(%29, %30) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 1>}> : (tensor<251x2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x4xcomplex<f32>>
    %32 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %33 = "stablehlo.pad"(%24, %32) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}> : (tensor<251x2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x4xcomplex<f32>>
    %34 = "stablehlo.add"(%31, %33) : (tensor<251x4xcomplex<f32>>, tensor<251x4xcomplex<f32>>) -> tensor<251x4xcomplex<f32>>
    %35 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x8xcomplex<f32>>}> : () -> tensor<251x8xcomplex<f32>>
    %36 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %37 = "stablehlo.pad"(%34, %36) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}> : (tensor<251x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x8xcomplex<f32>>
    %38 = "stablehlo.add"(%35, %37) : (tensor<251x8xcomplex<f32>>, tensor<251x8xcomplex<f32>>) -> tensor<251x8xcomplex<f32>>
    %39 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %40 = "stablehlo.pad"(%38, %39) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}> : (tensor<251x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x16xcomplex<f32>>
    %41 = "stablehlo.add"(%arg0, %40) : (tensor<251x16xcomplex<f32>>, tensor<251x16xcomplex<f32>>) -> tensor<251x16xcomplex<f32>>
    %42 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %43 = "stablehlo.pad"(%41, %42) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}> : (tensor<251x16xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x32xcomplex<f32>>
    %44 = "stablehlo.add"(%arg1, %43) : (tensor<251x32xcomplex<f32>>, tensor<251x32xcomplex<f32>>) -> tensor<251x32xcomplex<f32>>
    %45 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %46 = "stablehlo.pad"(%44, %45) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}> : (tensor<251x32xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x65xcomplex<f32>>
    %47 = "stablehlo.add"(%arg2, %46) : (tensor<251x65xcomplex<f32>>, tensor<251x65xcomplex<f32>>) -> tensor<251x65xcomplex<f32>>
    %48 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %49 = "stablehlo.pad"(%47, %48) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}> : (tensor<251x65xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x131xcomplex<f32>>
    %50 = "stablehlo.add"(%arg3, %49) : (tensor<251x131xcomplex<f32>>, tensor<251x131xcomplex<f32>>) -> tensor<251x131xcomplex<f32>>
    %51 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<251x131xcomplex<f32>>}> : () -> tensor<251x131xcomplex<f32>>
    %52 = "stablehlo.slice"(%0) <{limit_indices = array<i64: 251, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<251x263xcomplex<f32>>) -> tensor<251x1xcomplex<f32>>
    %53 = "stablehlo.concatenate"(%52, %51) <{dimension = 1 : i64}> : (tensor<251x1xcomplex<f32>>, tensor<251x131xcomplex<f32>>) -> tensor<251x132xcomplex<f32>>
    %54 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %55 = "stablehlo.pad"(%53, %54) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 0>, interior_padding = array<i64: 0, 1>}> : (tensor<251x132xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x263xcomplex<f32>>
    %56 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %57 = "stablehlo.pad"(%50, %56) <{edge_padding_high = array<i64: 0, 1>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 1>}> : (tensor<251x131xcomplex<f32>>, tensor<complex<f32>>) -> tensor<251x263xcomplex<f32>>
    %58 = "stablehlo.add"(%55, %57) : (tensor<251x263xcomplex<f32>>, tensor<251x263xcomplex<f32>>) -> tensor<251x263xcomplex<f32>>
    %59 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
    %60 = "stablehlo.reduce"(%58, %59) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg4: tensor<complex<f32>>, %arg5: tensor<complex<f32>>):
      %61 = "stablehlo.constant"() <{value = dense<(0.000000e+00,0.000000e+00)> : tensor<complex<f32>>}> : () -> tensor<complex<f32>>
      "stablehlo.return"(%61) : (tensor<complex<f32>>) -> ()
    }) : (tensor<251x263xcomplex<f32>>, tensor<complex<f32>>) -> tensor<263xcomplex<f32>>
    "func.return"(%60) : (tensor<263xcomplex<f32>>) -> ()
  }) : () -> ()
}) : () -> ()
