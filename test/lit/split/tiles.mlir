// Slices that cut what is innermost are whole tiles of 128 where arrays lie in such, and any number
// elsewhere.
// RUN: %weir opt %s --machine v5e --memory-limit 100MB | FileCheck %s --check-prefix=TILES
// RUN: %weir opt %s --machine h100 --memory-limit 100MB | FileCheck %s --check-prefix=DENSE

// TILES: "stablehlo.dynamic_slice"(%arg1, {{.*}}slice_sizes = array<i64: 64, 5632>
// DENSE: "stablehlo.dynamic_slice"(%arg1, {{.*}}slice_sizes = array<i64: 64, 8001>
module {
  func.func public @main(%x: tensor<2048x64xf32>, %w: tensor<64x40001xf32>) -> tensor<40001xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2048x64xf32>, tensor<64x40001xf32>) -> tensor<2048x40001xf32>
    %m = stablehlo.reduce(%p init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<2048x40001xf32>, tensor<f32>) -> tensor<40001xf32>
    %b = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<40001xf32>) -> tensor<2048x40001xf32>
    %d = stablehlo.subtract %p, %b : tensor<2048x40001xf32>
    %e = stablehlo.exponential %d : tensor<2048x40001xf32>
    %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2048x40001xf32>, tensor<f32>) -> tensor<40001xf32>
    return %s : tensor<40001xf32>
  }
}
