// RUN: %weir opt %s --memory-limit 2775 --tile off | FileCheck %s

// Windows of a value that is read backwards are parts of one, which a loop that is tried puts the
// middle of out.
// CHECK: "func.return"
"builtin.module"() <{sym_name = "program"}> ({
  "func.func"() <{function_type = (tensor<128xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<128xf32>, %arg1: tensor<128xf32>, %arg2: tensor<128xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128xf32>
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<64xf32>}> : () -> tensor<64xf32>
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<63xf32>}> : () -> tensor<63xf32>
    %4 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<128xf32>}> : () -> tensor<128xf32>
    %5 = "stablehlo.reverse"(%4) <{dimensions = array<i64: 0>}> : (tensor<128xf32>) -> tensor<128xf32>
    %6 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.reduce"(%5, %6) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %8 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%8) : (tensor<f32>) -> ()
    }) : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %9 = "stablehlo.reshape"(%7) : (tensor<f32>) -> tensor<1xf32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<128xf32>
    %11 = "stablehlo.compare"(%5, %10) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xi1>
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<128xf32>}> : () -> tensor<128xf32>
    %13 = "stablehlo.select"(%11, %12, %1) : (tensor<128xi1>, tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %14 = "stablehlo.reverse"(%13) <{dimensions = array<i64: 0>}> : (tensor<128xf32>) -> tensor<128xf32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.pad"(%14, %15) <{edge_padding_high = array<i64: 0>, edge_padding_low = array<i64: -1>, interior_padding = array<i64: 0>}> : (tensor<128xf32>, tensor<f32>) -> tensor<127xf32>
    %17 = "stablehlo.slice"(%16) <{limit_indices = array<i64: 127>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<127xf32>) -> tensor<64xf32>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.pad"(%14, %18) <{edge_padding_high = array<i64: -1>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<128xf32>, tensor<f32>) -> tensor<127xf32>
    %20 = "stablehlo.slice"(%19) <{limit_indices = array<i64: 127>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<127xf32>) -> tensor<64xf32>
    %21 = "stablehlo.slice"(%20) <{limit_indices = array<i64: 64>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<64xf32>) -> tensor<63xf32>
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<128xf32>}> : () -> tensor<128xf32>
    %23 = "stablehlo.multiply"(%3, %21) : (tensor<63xf32>, tensor<63xf32>) -> tensor<63xf32>
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.pad"(%23, %24) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 2>, interior_padding = array<i64: 1>}> : (tensor<63xf32>, tensor<f32>) -> tensor<128xf32>
    %26 = "stablehlo.add"(%22, %25) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    %27 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.pad"(%21, %27) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<63xf32>, tensor<f32>) -> tensor<64xf32>
    %29 = "stablehlo.add"(%17, %28) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %30 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %31 = "stablehlo.pad"(%29, %30) <{edge_padding_high = array<i64: 0>, edge_padding_low = array<i64: -1>, interior_padding = array<i64: 0>}> : (tensor<64xf32>, tensor<f32>) -> tensor<63xf32>
    %32 = "stablehlo.slice"(%31) <{limit_indices = array<i64: 63>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<63xf32>) -> tensor<32xf32>
    %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.pad"(%32, %33) <{edge_padding_high = array<i64: 0>, edge_padding_low = array<i64: -1>, interior_padding = array<i64: 0>}> : (tensor<32xf32>, tensor<f32>) -> tensor<31xf32>
    %35 = "stablehlo.slice"(%34) <{limit_indices = array<i64: 31>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<31xf32>) -> tensor<16xf32>
    %36 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.pad"(%35, %36) <{edge_padding_high = array<i64: -1>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<16xf32>, tensor<f32>) -> tensor<15xf32>
    %38 = "stablehlo.slice"(%37) <{limit_indices = array<i64: 15>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<15xf32>) -> tensor<8xf32>
    %39 = "stablehlo.slice"(%38) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<8xf32>) -> tensor<1xf32>
    %40 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.pad"(%39, %40) <{edge_padding_high = array<i64: 15>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<1xf32>, tensor<f32>) -> tensor<16xf32>
    %42 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<32xf32>}> : () -> tensor<32xf32>
    %43 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.pad"(%41, %43) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 1>}> : (tensor<16xf32>, tensor<f32>) -> tensor<32xf32>
    %45 = "stablehlo.add"(%42, %44) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<64xf32>}> : () -> tensor<64xf32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.pad"(%45, %47) <{edge_padding_high = array<i64: 1>, edge_padding_low = array<i64: 0>, interior_padding = array<i64: 1>}> : (tensor<32xf32>, tensor<f32>) -> tensor<64xf32>
    %49 = "stablehlo.add"(%46, %48) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %50 = "stablehlo.multiply"(%2, %49) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %51 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.pad"(%50, %51) <{edge_padding_high = array<i64: 0>, edge_padding_low = array<i64: 1>, interior_padding = array<i64: 1>}> : (tensor<64xf32>, tensor<f32>) -> tensor<128xf32>
    %53 = "stablehlo.add"(%26, %52) : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
    "func.return"(%53, %1) : (tensor<128xf32>, tensor<128xf32>) -> ()
  }) : () -> ()
}) : () -> ()
