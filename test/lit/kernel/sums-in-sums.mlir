// A sum inside of sums is made again for each of their indices that it does not know of: the roles are chosen so that it is not.
// RUN: %weir opt %s --tensor-size-threshold 100000 --tile on --machine x86-64-v4 --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK: weir: kernel: {{row|column}} 2000 {{row|column}} 2000
// CHECK-NOT: inner 2000
func.func @main(%x: tensor<2000x32xf32>, %w: tensor<32x32xf32>, %u: tensor<32x4xf32>) -> tensor<2000x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2000x32xf32>
  %k = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<2000x32xf32>, tensor<2000x32xf32>) -> tensor<2000x2000xf32>
  %a = stablehlo.tanh %k : tensor<2000x2000xf32>
  %b = stablehlo.dot_general %a, %x, contracting_dims = [1] x [0] : (tensor<2000x2000xf32>, tensor<2000x32xf32>) -> tensor<2000x32xf32>
  %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<2000x32xf32>, tensor<32x32xf32>) -> tensor<2000x32xf32>
  %r = stablehlo.maximum %c, %zero : tensor<2000x32xf32>
  %o = stablehlo.dot_general %r, %u, contracting_dims = [1] x [0] : (tensor<2000x32xf32>, tensor<32x4xf32>) -> tensor<2000x4xf32>
  return %o : tensor<2000x4xf32>
}
