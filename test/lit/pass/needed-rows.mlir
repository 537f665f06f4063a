// Passes that let more be split, for more work (passes.def: NEEDED), are left out where the program
// is held without them, and is predicted to be faster: prefix sums in both directions go by rows. No
// slices of a smaller limit stay in so small a cache.
// RUN: %weir opt %s --memory-limit 8MB --machine x86-64-v3,l2=64KiB --debug 2 2>&1 | FileCheck %s

// CHECK: without passes that may not be needed
// CHECK: sym_name = "main"
// CHECK: "stablehlo.while"
// CHECK-NOT: x16x16xf32
// CHECK: "func.return"
func.func public @main(%x: tensor<4096x256xf32>) -> tensor<4096xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [255, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 256>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4096x256xf32>, tensor<f32>) -> tensor<4096x256xf32>
  %t = stablehlo.cosine %s : tensor<4096x256xf32>
  %r = "stablehlo.reduce_window"(%t, %zero) <{padding = dense<[[0, 0], [0, 255]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 256>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4096x256xf32>, tensor<f32>) -> tensor<4096x256xf32>
  %u = stablehlo.multiply %r, %x : tensor<4096x256xf32>
  %y = stablehlo.reduce(%u init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x256xf32>, tensor<f32>) -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}
