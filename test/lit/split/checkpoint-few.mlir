// Of two trips, too, each of which keeps 40 kB made of one number: what they keep is made again where it
// is read, and split there. Where it is the state itself nothing is (checkpoint-deep.mlir).
// RUN: %weir opt %s --memory-limit 60kB --debug 3 2>&1 >%t | FileCheck %s --check-prefix=LOG
// RUN: FileCheck %s < %t

// LOG: checkpoint a while: 2 trips, 1 a segment, 1 levels

// CHECK-LABEL: sym_name = "main"
// CHECK-NOT:   tensor<2x10000xf32>

func.func public @main(%h: tensor<f32>, %x: tensor<10000xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %origin = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<2x10000xf32>
  %r:3 = stablehlo.while(%i = %zero, %s = %h, %all = %none) : tensor<i32>, tensor<f32>, tensor<2x10000xf32>
  cond {
    %end = stablehlo.constant dense<2> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %ss = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %p = stablehlo.multiply %ss, %x : tensor<10000xf32>
    %c = stablehlo.cosine %p : tensor<10000xf32>
    %row = stablehlo.reshape %c : (tensor<10000xf32>) -> tensor<1x10000xf32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %more = stablehlo.dynamic_update_slice %all, %row, %i, %o : (tensor<2x10000xf32>, tensor<1x10000xf32>, tensor<i32>, tensor<i32>) -> tensor<2x10000xf32>
    %e = stablehlo.sine %p : tensor<10000xf32>
    %t = stablehlo.reduce(%e init: %origin) applies stablehlo.add across dimensions = [0] : (tensor<10000xf32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %next, %t, %more : tensor<i32>, tensor<f32>, tensor<2x10000xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %h, %all = %r#2) : tensor<i32>, tensor<f32>, tensor<2x10000xf32>
  cond {
    %end = stablehlo.constant dense<2> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %at = stablehlo.subtract %one, %i : tensor<i32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %all, %at, %o, sizes = [1, 10000] : (tensor<2x10000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x10000xf32>
    %c = stablehlo.reshape %row : (tensor<1x10000xf32>) -> tensor<10000xf32>
    %q = stablehlo.multiply %c, %x : tensor<10000xf32>
    %t = stablehlo.reduce(%q init: %origin) applies stablehlo.add across dimensions = [0] : (tensor<10000xf32>, tensor<f32>) -> tensor<f32>
    %w = stablehlo.multiply %g, %t : tensor<f32>
    stablehlo.return %next, %w, %all : tensor<i32>, tensor<f32>, tensor<2x10000xf32>
  }
  return %r#1, %b#1 : tensor<f32>, tensor<f32>
}
