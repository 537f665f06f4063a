// Patches of an argument, and their mean and variance: in strips of rows nothing is made twice, for what
// windows share is read. Along the features the patches would be made for the mean and again for the
// variance.
// RUN: %weir opt %s --tensor-size-threshold 30000 --tensor-split-size 30000 --stop-after split | FileCheck %s

// CHECK:     "weir.loop"
// CHECK:     "stablehlo.convolution"({{.*}} -> tensor<1x{{[0-9]+}}x32x121xf32>
// CHECK:     extent = 32 : i64
// CHECK-NOT: "weir.loop"
func.func public @main(%x: tensor<1x42x42x1xf32>, %k: tensor<11x11x1x121xf32>) -> tensor<1x32x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<121.0> : tensor<1x32x32xf32>
  %p = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x42x42x1xf32>, tensor<11x11x1x121xf32>) -> tensor<1x32x32x121xf32>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x32x32x121xf32>, tensor<f32>) -> tensor<1x32x32xf32>
  %m = stablehlo.divide %s, %n : tensor<1x32x32xf32>
  %w = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<1x32x32xf32>) -> tensor<1x32x32x121xf32>
  %d = stablehlo.subtract %p, %w : tensor<1x32x32x121xf32>
  %q = stablehlo.multiply %d, %d : tensor<1x32x32x121xf32>
  %v = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x32x32x121xf32>, tensor<f32>) -> tensor<1x32x32xf32>
  return %v : tensor<1x32x32xf32>
}
