// A window that is reversed along a dimension goes over the kernel reversed along it: kept as it is
// where no window is, where sizes are not known, and where XLA CPU's library would misread padding.
// RUN: %weir opt %s --pass=simplify | FileCheck %s

// CHECK:      %[[K:.*]] = "stablehlo.reverse"(%arg1) <{dimensions = array<i64: 1>}> : (tensor<2x3x1x1xf64>)
// CHECK-NEXT: "stablehlo.convolution"(%arg0, %[[K]])
// CHECK-NOT:  window_reversal
// CHECK:      "stablehlo.convolution"(%arg0, %arg1)
// CHECK-NOT:  "stablehlo.reverse"
// CHECK:      "stablehlo.convolution"(%arg2, %arg1)
// CHECK-SAME: window_reversal = array<i1: false, true>
// CHECK:      "stablehlo.convolution"(%arg3, %{{[0-9]+}})
// CHECK-SAME: window_reversal = array<i1: false, true>
// CHECK:      "stablehlo.reverse"
// CHECK-NEXT: "stablehlo.convolution"(%arg0, %{{[0-9]+}})
// CHECK-NOT:  window_reversal
func.func @main(%x: tensor<1x5x4x1xf64>, %k: tensor<2x3x1x1xf64>, %u: tensor<?x5x4x1xf64>, %y: tensor<1x5x4x1xf32>) -> (tensor<1x4x2x1xf64>, tensor<1x4x2x1xf64>, tensor<?x4x2x1xf64>, tensor<1x4x2x1xf32>, tensor<1x4x2x1xf64>) {
  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x4x1xf64>, tensor<2x3x1x1xf64>) -> tensor<1x4x2x1xf64>
  %b = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x4x1xf64>, tensor<2x3x1x1xf64>) -> tensor<1x4x2x1xf64>
  %c = stablehlo.convolution(%u, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<?x5x4x1xf64>, tensor<2x3x1x1xf64>) -> tensor<?x4x2x1xf64>
  %l = stablehlo.convert %k : (tensor<2x3x1x1xf64>) -> tensor<2x3x1x1xf32>
  %d = stablehlo.convolution(%y, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[-1, 1], [0, 0]], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x4x1xf32>, tensor<2x3x1x1xf32>) -> tensor<1x4x2x1xf32>
  %e = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[-1, 1], [0, 0]], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x4x1xf64>, tensor<2x3x1x1xf64>) -> tensor<1x4x2x1xf64>
  return %a, %b, %c, %d, %e : tensor<1x4x2x1xf64>, tensor<1x4x2x1xf64>, tensor<?x4x2x1xf64>, tensor<1x4x2x1xf32>, tensor<1x4x2x1xf64>
}
