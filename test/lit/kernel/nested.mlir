// A loop that is split further, because a row alone is above the threshold, is one kernel of all
// rows and columns: it is made from the region, which knows of no loops.
//
// RUN: %weir opt %s --tensor-size-threshold 300 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s
//
// CHECK: weir: split stablehlo.broadcast_in_dim: extent 200,
// CHECK: weir: split stablehlo.broadcast_in_dim: extent 150,
// CHECK: weir: kernel: {{(row 200 column 150|column 150 row 200)}};
// CHECK-NOT: stablehlo.while
// CHECK: weir_tile
// CHECK-NOT: stablehlo.while
// CHECK: return
func.func public @main(%x: tensor<200xf32>, %y: tensor<150xf32>) -> tensor<200xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<200xf32>) -> tensor<200x150xf32>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<150xf32>) -> tensor<200x150xf32>
  %d = stablehlo.subtract %xs, %ys : tensor<200x150xf32>
  %k = stablehlo.exponential %d : tensor<200x150xf32>
  %r = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<200x150xf32>, tensor<f32>) -> tensor<200xf32>
  return %r : tensor<200xf32>
}
