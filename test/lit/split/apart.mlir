// Two matrices that are factored share nothing: a loop for each, so that the second need not be
// there while the first is factored. The lower half of a factor is no loop's: XLA writes it over
// what the factorisation left, and what that takes of small values is made there.
// RUN: %weir opt %s --tensor-size-threshold 20000 --stop-after split | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK:       %[[K:.*]] = "weir.loop"
// CHECK-NOT:   weir.loop
// CHECK:       %[[LEFT:.*]] = "stablehlo.cholesky"(%[[K]])
// CHECK:       %[[FACTOR:.*]] = "stablehlo.select"(%{{.*}}, %[[LEFT]], %{{.*}}) : (tensor<64x64xi1>
// CHECK:       %[[Q:.*]] = "weir.loop"
// CHECK-NOT:   weir.loop
// CHECK:       %[[OTHER:.*]] = "stablehlo.cholesky"(%[[Q]])
// CHECK:       "weir.loop"({{.*}}%[[FACTOR]]
// CHECK-NOT:   weir.loop
// CHECK:       func.return

func.func @main(%x: tensor<64x2xf64>, %y: tensor<64x2xf64>, %rows: tensor<64xi32>) -> (tensor<64xf64>, tensor<64x64xf64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x64xf64>
  %xx = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<64x2xf64>, tensor<64x2xf64>) -> tensor<64x64xf64>
  %k = stablehlo.exponential %xx : tensor<64x64xf64>
  %left = stablehlo.cholesky %k, lower = true : tensor<64x64xf64>
  %i = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<64xi32>) -> tensor<64x64xi32>
  %j = stablehlo.broadcast_in_dim %rows, dims = [1] : (tensor<64xi32>) -> tensor<64x64xi32>
  %mask = stablehlo.compare GE, %i, %j : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %l = stablehlo.select %mask, %left, %zeros : tensor<64x64xi1>, tensor<64x64xf64>
  %yy = stablehlo.dot_general %y, %y, contracting_dims = [1] x [1] : (tensor<64x2xf64>, tensor<64x2xf64>) -> tensor<64x64xf64>
  %q = stablehlo.exponential %yy : tensor<64x64xf64>
  %other = stablehlo.cholesky %q, lower = true : tensor<64x64xf64>
  %kq = stablehlo.multiply %k, %q : tensor<64x64xf64>
  %both = stablehlo.multiply %l, %other : tensor<64x64xf64>
  %all = stablehlo.multiply %kq, %both : tensor<64x64xf64>
  %sum = stablehlo.reduce(%all init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf64>, tensor<f64>) -> tensor<64xf64>
  return %sum, %l : tensor<64xf64>, tensor<64x64xf64>
}
