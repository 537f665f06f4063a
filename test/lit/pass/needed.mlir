// Passes that let more be split, for more work (passes.def: NEEDED), run where the program is not
// held without them: prefix sums in both directions of one row go in blocks.
// RUN: %weir opt %s --memory-limit 6MB --debug 2 2>&1 | FileCheck %s

// CHECK-NOT: without passes
// CHECK: sym_name = "main"
// CHECK: -> tensor<1024xf32>
// CHECK: "stablehlo.while"
// CHECK: "func.return"
func.func public @main(%x: tensor<1048576xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[1048575, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1048576>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1048576xf32>, tensor<f32>) -> tensor<1048576xf32>
  %t = stablehlo.cosine %s : tensor<1048576xf32>
  %r = "stablehlo.reduce_window"(%t, %zero) <{padding = dense<[[0, 1048575]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1048576>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<1048576xf32>, tensor<f32>) -> tensor<1048576xf32>
  %u = stablehlo.multiply %r, %x : tensor<1048576xf32>
  %y = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1048576xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
