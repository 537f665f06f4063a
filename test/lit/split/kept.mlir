// S = solve(L, I) is there whole, as a factor of M S: it is put out once, and the loops behind read
// slices of it; none of them solves again, or holds L. So is M = S^T exp(S). Of G + G^T, G = M S,
// rows and columns are made of M and S.
// RUN: %weir opt %s --tensor-size-threshold 8kB --tensor-split-size 8kB --stop-after split | FileCheck %s

// CHECK:     %[[L:[0-9]+]] = "stablehlo.cholesky"
// CHECK:     %[[S:[0-9]+]] = "weir.loop"(%[[L]], {{.*}}
// CHECK:     "stablehlo.triangular_solve"
// CHECK:     -> tensor<64x64xf64>
// CHECK:     %[[M:[0-9]+]] = "weir.loop"(%[[S]], %[[S]])
// CHECK-NOT: triangular_solve
// CHECK:     -> tensor<64x64xf64>
// CHECK:     "weir.loop"(%[[M]], %[[S]], %[[M]], %[[S]], %arg1,
// CHECK-NOT: triangular_solve
// CHECK:     in_dims = array<i64: -1, 1, 0, -1, 0>
func.func @main(%k: tensor<64x64xf64>, %v: tensor<64xf64>) -> tensor<64xf64> {
  %l = stablehlo.cholesky %k, lower = true : tensor<64x64xf64>
  %i = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %j = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %d = stablehlo.compare EQ, %i, %j : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %one = stablehlo.convert %d : (tensor<64x64xi1>) -> tensor<64x64xf64>
  %s = "stablehlo.triangular_solve"(%l, %one) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false} : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
  %e = stablehlo.exponential %s : tensor<64x64xf64>
  %m = stablehlo.dot_general %s, %e, contracting_dims = [0] x [0] : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
  %g = stablehlo.dot_general %m, %s, contracting_dims = [1] x [0] : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
  %t = stablehlo.transpose %g, dims = [1, 0] : (tensor<64x64xf64>) -> tensor<64x64xf64>
  %a = stablehlo.add %g, %t : tensor<64x64xf64>
  %x = stablehlo.exponential %a : tensor<64x64xf64>
  %y = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<64x64xf64>, tensor<64xf64>) -> tensor<64xf64>
  return %y : tensor<64xf64>
}
