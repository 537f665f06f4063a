// A slice may be one index whether loops may be kernels or not: here one image of four, rather than strips of all four that
// overlap. No kernel has convolutions.
// RUN: %weir opt %s --memory-limit 900000 --tile on | FileCheck %s
// RUN: %weir opt %s --memory-limit 900000 --tile off | FileCheck %s
// CHECK: "stablehlo.dynamic_slice"({{.*}}) <{slice_sizes = array<i64: 1, 4096, 8>}>

module {
  func.func public @main(%x: tensor<4x4096x8xf32>, %w: tensor<3x8x8xf32>, %v: tensor<3x8x8xf32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x4096x8xf32>, tensor<3x8x8xf32>) -> tensor<4x4096x8xf32>
    %1 = stablehlo.tanh %0 : tensor<4x4096x8xf32>
    %2 = stablehlo.convolution(%1, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x4096x8xf32>, tensor<3x8x8xf32>) -> tensor<4x4096x8xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<4x4096x8xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x4096x8xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}
