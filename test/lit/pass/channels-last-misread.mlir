// Cut at the low end and padded at the high end by no more: XLA CPU's library would read beyond its
// input, so that the order that keeps the convolution from it stays. Padded by more, or at the low
// end, it takes them.
// RUN: %weir opt %s --pass=channels-last,dce --machine x86-64-v4 | FileCheck %s

// CHECK:     "stablehlo.while"
// CHECK:     "stablehlo.convolution"({{.*}}[f, 0, b]x[0, i, o]->[b, 0, f]{{.*}}padding = dense<{{\[\[}}-1, 1]]>
// CHECK:     "stablehlo.convolution"({{.*}}[b, 0, f]x[0, i, o]->[b, 0, f]{{.*}}padding = dense<{{\[\[}}-1, 2]]>
// CHECK:     "stablehlo.convolution"({{.*}}[b, 0, f]x[0, i, o]->[b, 0, f]{{.*}}padding = dense<{{\[\[}}1, -1]]>
func.func @main(%x: tensor<3x8x4xf32>, %k: tensor<3x3x8xf32>) -> (tensor<4x6x8xf32>, tensor<4x7x8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<5> : tensor<i32>
  %a = stablehlo.constant dense<0.0> : tensor<4x6x8xf32>
  %b = stablehlo.constant dense<0.0> : tensor<4x7x8xf32>
  %r:3 = stablehlo.while(%i = %zero, %s = %a, %t = %b) : tensor<i32>, tensor<4x6x8xf32>, tensor<4x7x8xf32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %u = stablehlo.convolution(%x, %k) dim_numbers = [f, 0, b]x[0, i, o]->[b, 0, f], window = {pad = [[-1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x8x4xf32>, tensor<3x3x8xf32>) -> tensor<4x6x8xf32>
    %v = stablehlo.convolution(%x, %k) dim_numbers = [f, 0, b]x[0, i, o]->[b, 0, f], window = {pad = [[-1, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x8x4xf32>, tensor<3x3x8xf32>) -> tensor<4x7x8xf32>
    %w = stablehlo.convolution(%x, %k) dim_numbers = [f, 0, b]x[0, i, o]->[b, 0, f], window = {pad = [[1, -1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<3x8x4xf32>, tensor<3x3x8xf32>) -> tensor<4x6x8xf32>
    %d = stablehlo.add %s, %u : tensor<4x6x8xf32>
    %e = stablehlo.add %d, %w : tensor<4x6x8xf32>
    %f = stablehlo.add %t, %v : tensor<4x7x8xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %e, %f : tensor<i32>, tensor<4x6x8xf32>, tensor<4x7x8xf32>
  }
  return %r#1, %r#2 : tensor<4x6x8xf32>, tensor<4x7x8xf32>
}
