// K = exp(x x^T) is there whole for its factor, too, but is made of something small: behind the
// factor it is made anew, so that it need not be there beside it.
// RUN: %weir opt %s --tensor-size-threshold 8kB --tensor-split-size 8kB --stop-after split | FileCheck %s

// CHECK:     %[[K:[0-9]+]] = "weir.loop"(%arg0
// CHECK:     -> tensor<64x64xf64>
// CHECK:     %[[L:[0-9]+]] = "stablehlo.cholesky"(%[[K]])
// CHECK:     "stablehlo.triangular_solve"(%[[L]]
// CHECK-NOT: %[[K]]
// CHECK:     "weir.loop"
// CHECK:     "stablehlo.exponential"
// CHECK:     "func.return"
func.func @main(%x: tensor<64x2xf64>, %v: tensor<64x1xf64>) -> tensor<64x1xf64> {
  %p = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<64x2xf64>, tensor<64x2xf64>) -> tensor<64x64xf64>
  %k = stablehlo.exponential %p : tensor<64x64xf64>
  %l = stablehlo.cholesky %k, lower = true : tensor<64x64xf64>
  %s = "stablehlo.triangular_solve"(%l, %v) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false} : (tensor<64x64xf64>, tensor<64x1xf64>) -> tensor<64x1xf64>
  %y = stablehlo.dot_general %k, %s, contracting_dims = [1] x [0] : (tensor<64x64xf64>, tensor<64x1xf64>) -> tensor<64x1xf64>
  return %y : tensor<64x1xf64>
}
