// Convolutions inside of loops that Eigen has not the types for: YNN takes f64 and bytes of two spatial dimensions and
// many features, each feature on its own too. The rest are plain loops: groups of several features, few features.
// RUN: %weir opt %s --pass=channels-last,dce --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --memory-limit 40MB --machine x86-64-v4 -o %t 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: sed -e 's/f64/f32/g' -e 's/i8/i32/g' %s | %weir opt - --memory-limit 20MB --machine x86-64-v4 -o %t 2>&1 | FileCheck %s --check-prefix=EIGEN
// OPTIONS: ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT,LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION
// EIGEN: ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT{{$}}

// CHECK: "stablehlo.while"
// CHECK: "stablehlo.convolution"{{.*}}[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]{{.*}} -> tensor<24x3x3x24xf64>
// CHECK: "stablehlo.convolution"{{.*}}[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 24
// CHECK: "stablehlo.convolution"{{.*}}[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, feature_group_count = 4
// CHECK: "stablehlo.convolution"{{.*}}[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]{{.*}} -> tensor<64x32x32x4xf64>
// CHECK: "stablehlo.convolution"{{.*}}[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]{{.*}} -> tensor<2x8x8x24xi32>
module {
  func.func public @main(%x: tensor<64x32x32x24xf64>, %k: tensor<3x3x1x24xf64>, %p: tensor<3x3x6x24xf64>, %q: tensor<3x3x4x4xf64>, %b: tensor<2x24x8x8xi8>, %c: tensor<24x24x3x3xi8>) -> tensor<24x3x3x24xf64> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.constant dense<5> : tensor<i32>
    %cst = stablehlo.constant dense<0.0> : tensor<f64>
    %start = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<24x3x3x24xf64>
    %r:2 = stablehlo.while(%i = %zero, %s = %start) : tensor<i32>, tensor<24x3x3x24xf64>
     cond {
      %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %g = stablehlo.convolution(%x, %x) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x32x32x24xf64>, tensor<64x32x32x24xf64>) -> tensor<24x3x3x24xf64>
      %e = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 24 : i64} : (tensor<64x32x32x24xf64>, tensor<3x3x1x24xf64>) -> tensor<64x32x32x24xf64>
      %h = stablehlo.convolution(%x, %p) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<64x32x32x24xf64>, tensor<3x3x6x24xf64>) -> tensor<64x32x32x24xf64>
      %few = stablehlo.slice %e [0:64, 0:32, 0:32, 0:4] : (tensor<64x32x32x24xf64>) -> tensor<64x32x32x4xf64>
      %l = stablehlo.convolution(%few, %q) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<64x32x32x4xf64>, tensor<3x3x4x4xf64>) -> tensor<64x32x32x4xf64>
      %m = stablehlo.convolution(%b, %c) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x24x8x8xi8>, tensor<24x24x3x3xi8>) -> tensor<2x24x8x8xi32>
      %se = stablehlo.reduce(%h init: %cst) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<64x32x32x24xf64>, tensor<f64>) -> tensor<f64>
      %sl = stablehlo.reduce(%l init: %se) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<64x32x32x4xf64>, tensor<f64>) -> tensor<f64>
      %mi = stablehlo.convert %m : (tensor<2x24x8x8xi32>) -> tensor<2x24x8x8xf64>
      %sm = stablehlo.reduce(%mi init: %sl) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x24x8x8xf64>, tensor<f64>) -> tensor<f64>
      %a = stablehlo.broadcast_in_dim %sl, dims = [] : (tensor<f64>) -> tensor<24x3x3x24xf64>
      %u = stablehlo.add %s, %g : tensor<24x3x3x24xf64>
      %w = stablehlo.add %u, %a : tensor<24x3x3x24xf64>
      %sb = stablehlo.broadcast_in_dim %sm, dims = [] : (tensor<f64>) -> tensor<24x3x3x24xf64>
      %z = stablehlo.add %w, %sb : tensor<24x3x3x24xf64>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %z : tensor<i32>, tensor<24x3x3x24xf64>
    }
    return %r#1 : tensor<24x3x3x24xf64>
  }
}
