// A reshape of rows of 6 to rows of 8, which end with neither: 4 rows of the one are 3 of the other,
// and slices are in units of those.
// RUN: %weir opt %s --tensor-size-threshold 400 --tensor-split-size 120 --stop-after split | FileCheck %s

// CHECK: "stablehlo.reshape"({{.*}}) : (tensor<4x6xf32>) -> tensor<3x8xf32>
// CHECK: extent = 12 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 4, 1>, out_dims = array<i64: 0>, out_units = array<i64: 3>

func.func public @main(%x: tensor<48xf32>, %y: tensor<6xf32>) -> tensor<36xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<48xf32>) -> tensor<48x6xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<48x6xf32>
  %k = stablehlo.multiply %xs, %ys : tensor<48x6xf32>
  %g = stablehlo.reshape %k : (tensor<48x6xf32>) -> tensor<36x8xf32>
  %e = stablehlo.exponential %g : tensor<36x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<36x8xf32>, tensor<f32>) -> tensor<36xf32>
  return %s : tensor<36xf32>
}
