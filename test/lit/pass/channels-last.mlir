// Convolutions inside of loops in the order that XLA CPU runs fast.
// RUN: %weir opt %s --pass=channels-last,dce --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --pass=channels-last,dce --platform cuda | FileCheck %s --check-prefix=LEFT
// LEFT: [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]
// LEFT: [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]
// LEFT: batch_group_count = 2

module {
  // The entry is XLA's. A kernel's gradient, batch and features swapped; an input's gradient.
  // CHECK: sym_name = "main"
  // CHECK: "stablehlo.convolution"({{.*}}#stablehlo.conv<[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]>
  // CHECK: "stablehlo.while"
  // CHECK: %[[X:.*]] = "stablehlo.transpose"(%{{.*}}) <{permutation = array<i64: 3, 1, 2, 0>}> : (tensor<2x8x8x3xf32>) -> tensor<3x8x8x2xf32>
  // CHECK: %[[G:.*]] = "stablehlo.transpose"(%{{.*}}) <{permutation = array<i64: 1, 2, 0, 3>}> : (tensor<2x8x8x4xf32>) -> tensor<8x8x2x4xf32>
  // CHECK: %[[K:.*]] = "stablehlo.convolution"(%[[X]], %[[G]]) {{.*}}#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>{{.*}} -> tensor<3x3x3x4xf32>
  // CHECK: "stablehlo.transpose"(%[[K]]) <{permutation = array<i64: 1, 2, 0, 3>}>
  func.func public @main(%x: tensor<2x8x8x3xf32>, %g: tensor<2x8x8x4xf32>) -> (tensor<3x3x3x4xf32>, tensor<3x3x3x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<5> : tensor<i32>
    %k = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<2x8x8x4xf32>) -> tensor<3x3x3x4xf32>
    %r:2 = stablehlo.while(%i = %zero, %s = %k) : tensor<i32>, tensor<3x3x3x4xf32>
     cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %h = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x3xf32>, tensor<2x8x8x4xf32>) -> tensor<3x3x3x4xf32>
      %t = stablehlo.add %s, %h : tensor<3x3x3x4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %t : tensor<i32>, tensor<3x3x3x4xf32>
    }
    return %k, %r#1 : tensor<3x3x3x4xf32>, tensor<3x3x3x4xf32>
  }

  // Groups of the batch become groups of features: few features each, so the kernel stands as the
  // library does not take it. A reversed window is a reversed kernel. What is in order already
  // stays. What no library has code for has its kernel in the order of plain loops.
  // CHECK: sym_name = "others"
  // CHECK: %[[S:.*]] = "stablehlo.reshape"(%[[A:.*]]) : (tensor<4x8x3xf32>) -> tensor<2x2x8x3xf32>
  // CHECK: %[[T:.*]] = "stablehlo.transpose"(%[[S]]) <{permutation = array<i64: 1, 2, 0, 3>}>
  // CHECK: %[[U:.*]] = "stablehlo.reshape"(%[[T]]) : (tensor<2x8x2x3xf32>) -> tensor<2x8x6xf32>
  // CHECK: %[[V:.*]] = "stablehlo.transpose"(%{{.*}}) <{permutation = array<i64: 0, 2, 1>}> : (tensor<7x3x4xf32>) -> tensor<7x4x3xf32>
  // CHECK: "stablehlo.convolution"(%[[U]], %[[V]]) {{.*}}batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, o, i]->[b, 0, f]>, feature_group_count = 2 : i64
  // CHECK: %[[R:.*]] = "stablehlo.reverse"(%{{.*}}) <{dimensions = array<i64: 0>}> : (tensor<7x3x4xf32>)
  // CHECK: "stablehlo.convolution"(%[[A]], %[[R]]) {{.*}}[b, 0, f]x[0, i, o]->[b, 0, f]
  // CHECK-NOT: window_reversal
  // CHECK: "stablehlo.convolution"(%[[A]], %{{.*}}) {{.*}}[b, 0, f]x[0, i, o]->[b, 0, f]
  // CHECK: "stablehlo.convolution"({{.*}}[b, 0, f]x[0, o, i]->[b, 0, f]{{.*}}xf64>
  func.func @others(%a: tensor<4x8x3xf32>, %k: tensor<7x3x4xf32>, %d: tensor<1x2x8xf64>, %e: tensor<2x2x3xf64>) -> tensor<4x8x3xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<5> : tensor<i32>
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %r:2 = stablehlo.while(%i = %zero, %s = %a) : tensor<i32>, tensor<4x8x3xf32>
     cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %b = stablehlo.convolution(%s, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[3, 3]]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x8x3xf32>, tensor<7x3x4xf32>) -> tensor<2x8x4xf32>
      %v = stablehlo.convolution(%s, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[3, 3]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x3xf32>, tensor<7x3x4xf32>) -> tensor<4x8x4xf32>
      %w = stablehlo.convolution(%s, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[3, 3]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x3xf32>, tensor<7x3x4xf32>) -> tensor<4x8x4xf32>
      %f = stablehlo.convolution(%d, %e) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x8xf64>, tensor<2x2x3xf64>) -> tensor<1x2x8xf64>
      %p = stablehlo.reduce(%b init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<f32>
      %q = stablehlo.reduce(%v init: %p) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x8x4xf32>, tensor<f32>) -> tensor<f32>
      %t = stablehlo.reduce(%w init: %q) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<4x8x4xf32>, tensor<f32>) -> tensor<f32>
      %y = stablehlo.convert %f : (tensor<1x2x8xf64>) -> tensor<1x2x8xf32>
      %z = stablehlo.reduce(%y init: %t) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x2x8xf32>, tensor<f32>) -> tensor<f32>
      %l = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<4x8x3xf32>
      %m = stablehlo.add %s, %l : tensor<4x8x3xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %m : tensor<i32>, tensor<4x8x3xf32>
    }
    return %r#1 : tensor<4x8x3xf32>
  }

  // A blur of a grey image: few products for a point, so plain loops.
  // CHECK: sym_name = "blur"
  // CHECK: "stablehlo.convolution"({{.*}}[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]
  func.func @blur(%a: tensor<1x1x64x64xf32>, %k: tensor<1x1x5x5xf32>) -> tensor<1x1x64x64xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %s = %a) : tensor<i32>, tensor<1x1x64x64xf32>
     cond {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %b = stablehlo.convolution(%s, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x64x64xf32>, tensor<1x1x5x5xf32>) -> tensor<1x1x64x64xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %b : tensor<i32>, tensor<1x1x64x64xf32>
    }
    return %r#1 : tensor<1x1x64x64xf32>
  }
}
