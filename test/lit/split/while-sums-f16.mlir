// The same in f16, whose sums may overflow where their parts do not: the while stays whole.
// RUN: %weir opt %s --tensor-size-threshold 11000 --tensor-split-size 3300 --stop-after split | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK-NOT: "weir.loop"(
// CHECK: "stablehlo.while"(
// CHECK: ^bb0({{.*}}: tensor<401x50xf32>
// CHECK: -> tensor<50x50xf16>
func.func public @main(%a: tensor<401xf32>, %b: tensor<50x50xf32>) -> (tensor<50x50xf32>, tensor<50xf32>, tensor<401xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<50xf32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<401xf32>) -> tensor<401x50xf32>
  %r:4 = stablehlo.while(%i = %zero, %y = %x, %w = %b, %s = %zeros) : tensor<i32>, tensor<401x50xf32>, tensor<50x50xf32>, tensor<50xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %more = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %o = stablehlo.constant dense<0.0> : tensor<f32>
    %half = stablehlo.constant dense<0.5> : tensor<50xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.tanh %y : tensor<401x50xf32>
    %yh = stablehlo.convert %y : (tensor<401x50xf32>) -> tensor<401x50xf16>
    %zh = stablehlo.convert %z : (tensor<401x50xf32>) -> tensor<401x50xf16>
    %gh = stablehlo.dot_general %yh, %zh, contracting_dims = [0] x [0] : (tensor<401x50xf16>, tensor<401x50xf16>) -> tensor<50x50xf16>
    %g = stablehlo.convert %gh : (tensor<50x50xf16>) -> tensor<50x50xf32>
    %w2 = stablehlo.add %w, %g : tensor<50x50xf32>
    %t = stablehlo.reduce(%z init: %o) applies stablehlo.add across dimensions = [0] : (tensor<401x50xf32>, tensor<f32>) -> tensor<50xf32>
    %u = stablehlo.multiply %s, %half : tensor<50xf32>
    %h = stablehlo.convert %t : (tensor<50xf32>) -> tensor<50xf16>
    %n = stablehlo.negate %h : tensor<50xf16>
    %th = stablehlo.convert %n : (tensor<50xf16>) -> tensor<50xf32>
    %s2 = stablehlo.subtract %u, %th : tensor<50xf32>
    stablehlo.return %next, %z, %w2, %s2 : tensor<i32>, tensor<401x50xf32>, tensor<50x50xf32>, tensor<50xf32>
  }
  %m = stablehlo.reduce(%r#1 init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<401x50xf32>, tensor<f32>) -> tensor<401xf32>
  return %r#2, %r#3, %m : tensor<50x50xf32>, tensor<50xf32>, tensor<401xf32>
}
