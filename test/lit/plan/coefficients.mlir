// XLA:TPU may keep 32,256 bytes for an element that is taken out of a table of constants, such as a polynomial's coefficient. There are
// three here: one, which is taken twice, one out of a row, one out of the transposed table. Two that are taken
// together are none, nor is one that nobody reads.
// RUN: %peak --device v5e %s | FileCheck %s --check-prefix=THREE
// RUN: %peak --device v5p %s | FileCheck %s --check-prefix=THREE
// THREE: 5120 4096 0 96768 105984
// A choice between the same is none.
// RUN: sed 's/%%row0 = .*/%%row0 = stablehlo.select %%p, %%row, %%row : (tensor<i1>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>/' %s > %t.same.mlir
// RUN: %peak --device v5e %t.same.mlir | FileCheck %s --check-prefix=THREE
// RUN: sed 's/%%row0 = .*/%%row0 = stablehlo.select %%p, %%row, %%zero : (tensor<i1>, tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>/' %s > %t.chosen.mlir
// RUN: %peak --device v5e %t.chosen.mlir | FileCheck %s --check-prefix=CHOSEN
// An array that is computed has one taken out: it is there, with the tables of its copies.
// CHOSEN: 5120 4096 0 225792 235008
// Not of an argument, out of which three numbers are taken, nor of integers, nor of what is the same everywhere, nor elsewhere.
// RUN: sed 's/%%table = .*/%%table = stablehlo.reshape %%y : (tensor<8xf32>) -> tensor<2x4xf32>/' %s > %t.argument.mlir
// RUN: %peak --device v5e %t.argument.mlir | FileCheck %s --check-prefix=CHOSEN
// RUN: sed 's/xf32/xi32/g; s/<f32>/<i32>/g; s/\.0//g' %s > %t.integers.mlir
// RUN: %peak --device v5e %t.integers.mlir | FileCheck %s --check-prefix=NONE
// RUN: sed 's/%%table = .*/%%table = stablehlo.constant dense<1.0> : tensor<2x4xf32>/' %s > %t.splat.mlir
// RUN: %peak --device v5e %t.splat.mlir | FileCheck %s --check-prefix=NONE
// NONE: 5120 4096 0 0 9216
// RUN: %peak --device h100 %s | FileCheck %s --check-prefix=ELSEWHERE
// RUN: %peak %s | FileCheck %s --check-prefix=ELSEWHERE
// ELSEWHERE: 4033 4000 0 0 8033
func.func public @main(%x: tensor<1000xf32>, %y: tensor<8xf32>, %p: tensor<i1>) -> tensor<1000xf32> {
  %table = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<1x4xf32>
  %a0 = stablehlo.slice %table [0:1, 0:1] : (tensor<2x4xf32>) -> tensor<1x1xf32>
  %a = stablehlo.reshape %a0 : (tensor<1x1xf32>) -> tensor<f32>
  %row = stablehlo.slice %table [1:2, 0:4] : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %row0 = stablehlo.reshape %row : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %row1 = stablehlo.reshape %row0 : (tensor<1x4xf32>) -> tensor<4xf32>
  %b0 = stablehlo.slice %row1 [2:3] : (tensor<4xf32>) -> tensor<1xf32>
  %b = stablehlo.reshape %b0 : (tensor<1xf32>) -> tensor<f32>
  %turned = stablehlo.transpose %table, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %c0 = stablehlo.slice %turned [3:4, 1:2] : (tensor<4x2xf32>) -> tensor<1x1xf32>
  %c = stablehlo.reshape %c0 : (tensor<1x1xf32>) -> tensor<f32>
  %again0 = stablehlo.slice %table [0:1, 0:1] : (tensor<2x4xf32>) -> tensor<1x1xf32>
  %again = stablehlo.reshape %again0 : (tensor<1x1xf32>) -> tensor<f32>
  %unread = stablehlo.slice %table [0:1, 3:4] : (tensor<2x4xf32>) -> tensor<1x1xf32>
  %two = stablehlo.slice %table [0:1, 1:3] : (tensor<2x4xf32>) -> tensor<1x2xf32>
  %two_all = stablehlo.broadcast_in_dim %two, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<500x2xf32>
  %two_flat = stablehlo.reshape %two_all : (tensor<500x2xf32>) -> tensor<1000xf32>
  %a_all = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<1000xf32>
  %b_all = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<1000xf32>
  %c_all = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<1000xf32>
  %again_all = stablehlo.broadcast_in_dim %again, dims = [] : (tensor<f32>) -> tensor<1000xf32>
  %1 = stablehlo.multiply %x, %a_all : tensor<1000xf32>
  %2 = stablehlo.add %1, %b_all : tensor<1000xf32>
  %3 = stablehlo.multiply %2, %c_all : tensor<1000xf32>
  %4 = stablehlo.add %3, %again_all : tensor<1000xf32>
  %5 = stablehlo.multiply %4, %two_flat : tensor<1000xf32>
  return %5 : tensor<1000xf32>
}
