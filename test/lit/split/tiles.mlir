// Slices in which something large is written along what is innermost are whole tiles of 128 where
// arrays lie in such, and any number elsewhere.
// RUN: %weir opt %s --machine v5e --memory-limit 300MB | FileCheck %s --check-prefix=TILES
// RUN: %weir opt %s --machine h100 --memory-limit 300MB | FileCheck %s --check-prefix=DENSE

// TILES: "stablehlo.dynamic_update_slice"({{.*}}tensor<512x40001xf32>, tensor<512x7936xf32>
// DENSE: "stablehlo.dynamic_update_slice"({{.*}}tensor<512x40001xf32>, tensor<512x8001xf32>
module {
  func.func public @main(%x: tensor<2048x512xf32>, %w: tensor<512x40001xf32>) -> tensor<512x40001xf32> {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2048x512xf32>, tensor<512x40001xf32>) -> tensor<2048x40001xf32>
    %m = stablehlo.reduce(%p init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<2048x40001xf32>, tensor<f32>) -> tensor<40001xf32>
    %b = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<40001xf32>) -> tensor<2048x40001xf32>
    %d = stablehlo.subtract %p, %b : tensor<2048x40001xf32>
    %e = stablehlo.exponential %d : tensor<2048x40001xf32>
    %y = stablehlo.dot_general %x, %e, contracting_dims = [0] x [0] : (tensor<2048x512xf32>, tensor<2048x40001xf32>) -> tensor<512x40001xf32>
    return %y : tensor<512x40001xf32>
  }
}
