// Ops whose sizes are operands, of sizes that are known, are the ops whose sizes are attributes.
// RUN: %weir opt %s --pass=static,dce | FileCheck %s

module {
  // CHECK: sym_name = "shapes"
  // CHECK: "stablehlo.reshape"(%arg0) : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // CHECK: "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<4x6xf32>
  // CHECK: "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x6xi32>
  func.func @shapes(%a: tensor<4x6xf32>, %b: tensor<6xf32>) -> (tensor<2x12xf32>, tensor<4x6xf32>, tensor<4x6xi32>) {
    %s = stablehlo.constant dense<[2, 12]> : tensor<2xi64>
    %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<2x12xf32>
    %four = stablehlo.constant dense<4> : tensor<i32>
    %first = stablehlo.reshape %four : (tensor<i32>) -> tensor<1xi32>
    %last = stablehlo.constant dense<6> : tensor<1xi32>
    %t = stablehlo.concatenate %first, %last, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %1 = "stablehlo.dynamic_broadcast_in_dim"(%b, %t) <{broadcast_dimensions = array<i64: 1>, known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<6xf32>, tensor<2xi32>) -> tensor<4x6xf32>
    %2 = stablehlo.dynamic_iota %t, dim = 1 : (tensor<2xi32>) -> tensor<4x6xi32>
    return %0, %1, %2 : tensor<2x12xf32>, tensor<4x6xf32>, tensor<4x6xi32>
  }

  // Sizes that nobody knows can only be those of the type.
  // CHECK: sym_name = "given"
  // CHECK: "stablehlo.reshape"(%arg0) : (tensor<4x6xf32>) -> tensor<24xf32>
  func.func @given(%a: tensor<4x6xf32>, %n: tensor<1xi32>) -> tensor<24xf32> {
    %0 = stablehlo.dynamic_reshape %a, %n : (tensor<4x6xf32>, tensor<1xi32>) -> tensor<24xf32>
    return %0 : tensor<24xf32>
  }

  // CHECK: sym_name = "lists"
  // CHECK: "stablehlo.slice"(%arg0) <{start_indices = array<i64: 1>, limit_indices = array<i64: 7>, strides = array<i64: 2>}> : (tensor<8xf32>) -> tensor<3xf32>
  // CHECK: "stablehlo.pad"(%arg0, %{{.*}}) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: -2>, interior_padding = array<i64: 0>}> : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
  // CHECK: "stablehlo.gather"(%arg1, %arg2) {{.*}}slice_sizes = array<i64: 1, 6>
  // CHECK: "stablehlo.convolution"(%arg3, %arg4) {{.*}}padding = dense<{{\[\[}}1, 0], [0, 1]]> : tensor<2x2xi64>
  func.func @lists(%x: tensor<8xf32>, %a: tensor<4x6xf32>, %i: tensor<2x1xi32>, %im: tensor<1x6x6x2xf32>, %k: tensor<2x2x2x4xf32>) -> (tensor<3xf32>, tensor<7xf32>, tensor<2x6xf32>, tensor<1x6x6x4xf32>) {
    %one = stablehlo.constant dense<1> : tensor<1xi64>
    %two = stablehlo.add %one, %one : tensor<1xi64>
    %seven = stablehlo.constant dense<7> : tensor<1xi64>
    %none = stablehlo.constant dense<0> : tensor<1xi64>
    %less = stablehlo.constant dense<-2> : tensor<1xi64>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.real_dynamic_slice %x, %one, %seven, %two : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
    %1 = stablehlo.dynamic_pad %x, %z, %one, %less, %none : (tensor<8xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<7xf32>
    %sizes = stablehlo.constant dense<[1, 6]> : tensor<2xi32>
    %2 = "stablehlo.dynamic_gather"(%a, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x6xf32>
    %pads = stablehlo.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
    %3 = "stablehlo.dynamic_conv"(%im, %k, %pads) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x6x6x2xf32>, tensor<2x2x2x4xf32>, tensor<2x2xi32>) -> tensor<1x6x6x4xf32>
    return %0, %1, %2, %3 : tensor<3xf32>, tensor<7xf32>, tensor<2x6xf32>, tensor<1x6x6x4xf32>
  }
}
