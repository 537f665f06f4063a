// Windows that are no prefixes (short of the end, two apart, along two dimensions), and products of
// 16-bit floats, whose carry would be rounded: not split along what they reach over.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: sym_name = "main"
// CHECK-NOT: weir.loop
// CHECK: "func.return"
func.func public @main(%x: tensor<64xf32>, %h: tensor<128xf16>, %m: tensor<8x8xf32>) -> (tensor<63xf32>, tensor<64xf32>, tensor<128xf16>, tensor<8x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f16>
  %e = stablehlo.exponential %x : tensor<64xf32>
  %p = "stablehlo.reduce_window"(%e, %zero) <{padding = dense<[[62, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<63xf32>
  %q = "stablehlo.reduce_window"(%e, %zero) <{padding = dense<[[126, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 2>, window_dimensions = array<i64: 64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %g = stablehlo.exponential %h : tensor<128xf16>
  %r = "stablehlo.reduce_window"(%g, %one) <{padding = dense<[[127, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 128>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %c = stablehlo.multiply %a, %b : tensor<f16>
    stablehlo.return %c : tensor<f16>
  }) : (tensor<128xf16>, tensor<f16>) -> tensor<128xf16>
  %f = stablehlo.exponential %m : tensor<8x8xf32>
  %s = "stablehlo.reduce_window"(%f, %zero) <{padding = dense<[[7, 0], [7, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 8, 8>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %p, %q, %r, %s : tensor<63xf32>, tensor<64xf32>, tensor<128xf16>, tensor<8x8xf32>
}
