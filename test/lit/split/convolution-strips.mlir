// One image: strips of rows. The first convolution makes two rows more on either side, of the image
// four are read; what is beyond the image is zero for the second one, too.
// RUN: %weir opt %s --tensor-size-threshold 8000 --tensor-split-size 2000 --stop-after split | FileCheck %s
// The same of floats of a byte.
// RUN: sed s/f32/f8E4M3FN/g %s | %weir opt - --tensor-size-threshold 2000 --tensor-split-size 500 --stop-after split | FileCheck %s --check-prefix=BYTES

// CHECK:     "weir.loop"
// CHECK:     "stablehlo.dynamic_slice"({{.*}}slice_sizes = array<i64: 1, 11, 16, 1>
// CHECK:     "stablehlo.select"({{.*}}tensor<1x11x16x1xf32>
// CHECK:     "stablehlo.convolution"({{.*}}padding = dense<{{\[\[}}0, 0], [2, 2]]> : tensor<2x2xi64>{{.*}} -> tensor<1x7x16x8xf32>
// CHECK:     %[[ZERO:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<1x7x16x8xf32>}>
// CHECK:     %[[H:[a-z0-9]+]] = "stablehlo.select"(%{{.*}}, %{{.*}}, %[[ZERO]])
// CHECK:     "stablehlo.convolution"(%[[H]], {{.*}}padding = dense<{{\[\[}}0, 0], [2, 2]]> : tensor<2x2xi64>{{.*}} -> tensor<1x3x16x1xf32>
// CHECK:     extent = 32 : i64{{.*}}slice = 3 : i64
// BYTES:     %[[ZERO:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<0x00> : tensor<1x7x16x8xf8E4M3FN>}>
// BYTES:     "stablehlo.select"(%{{.*}}, %{{.*}}, %[[ZERO]])
func.func public @main(%x: tensor<1x32x16x1xf32>, %a: tensor<5x5x1x8xf32>, %b: tensor<5x5x8x1xf32>) -> tensor<1x32x16x1xf32> {
  %h = stablehlo.convolution(%x, %a) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x16x1xf32>, tensor<5x5x1x8xf32>) -> tensor<1x32x16x8xf32>
  %t = stablehlo.tanh %h : tensor<1x32x16x8xf32>
  %y = stablehlo.convolution(%t, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x32x16x8xf32>, tensor<5x5x8x1xf32>) -> tensor<1x32x16x1xf32>
  return %y : tensor<1x32x16x1xf32>
}
