// Whiles inside of a tile: what is carried stays in registers, where nothing in the body brings its elements together. Values of 16 bits,
// which are rounded at each step, are not covered.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 100000 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s

// CHECK: kernel: row 400 column 900; 1 passes, 1 + 0 reductions;
// CHECK: no kernel: stablehlo.while
// The matrix that does not change is no carry; the counter is one.
// CHECK: = \22weir.carry\22(
// CHECK-SAME: turns = 7 : i64, depth = 1
// CHECK-SAME: = \22weir.carry\22(
// CHECK-SAME: = \22weir.repeat\22(
// CHECK-SAME: turns = 1 : i64, depth = 0
// CHECK: stablehlo.while
func.func @main(%x: tensor<400xf32>, %y: tensor<900xf32>, %h: tensor<500xbf16>, %g: tensor<700xbf16>) -> (tensor<400xf32>, tensor<500xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<400xf32>) -> tensor<400x900xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<900xf32>) -> tensor<400x900xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<400x900xf32>
  %3:3 = stablehlo.while(%count = %i, %same = %2, %v = %2) : tensor<i32>, tensor<400x900xf32>, tensor<400x900xf32>
  cond {
    %c = stablehlo.constant dense<7> : tensor<i32>
    %t = stablehlo.compare LT, %count, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.add %count, %one : tensor<i32>
    %s = stablehlo.sine %v : tensor<400x900xf32>
    %a = stablehlo.add %s, %same : tensor<400x900xf32>
    stablehlo.return %n, %same, %a : tensor<i32>, tensor<400x900xf32>, tensor<400x900xf32>
  }
  %4 = stablehlo.reduce(%3#2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<400x900xf32>, tensor<f32>) -> tensor<400xf32>
  %9 = stablehlo.broadcast_in_dim %h, dims = [0] : (tensor<500xbf16>) -> tensor<500x700xbf16>
  %10 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<700xbf16>) -> tensor<500x700xbf16>
  %11 = stablehlo.multiply %9, %10 : tensor<500x700xbf16>
  %12:2 = stablehlo.while(%count = %i, %v = %11) : tensor<i32>, tensor<500x700xbf16>
  cond {
    %c = stablehlo.constant dense<7> : tensor<i32>
    %t = stablehlo.compare LT, %count, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %n = stablehlo.add %count, %one : tensor<i32>
    %a = stablehlo.sine %v : tensor<500x700xbf16>
    stablehlo.return %n, %a : tensor<i32>, tensor<500x700xbf16>
  }
  %13 = stablehlo.convert %12#1 : (tensor<500x700xbf16>) -> tensor<500x700xf32>
  %14 = stablehlo.reduce(%13 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<500x700xf32>, tensor<f32>) -> tensor<500xf32>
  return %4, %14 : tensor<400xf32>, tensor<500xf32>
}
