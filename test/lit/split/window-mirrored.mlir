// A value that is put out and read backwards by windows: of the window that a trip makes, the middle.
// RUN: %weir opt %s --tensor-size-threshold 600 --pass=split --stop-after split | FileCheck %s

// CHECK:      %[[E:.*]] = "stablehlo.exponential"(%{{.*}}) : (tensor<130xf32>)
// CHECK:      "stablehlo.reverse"(%[[E]])
// CHECK:      "stablehlo.reduce_window"
// CHECK-NOT:  "stablehlo.exponential"
// CHECK:      %[[P:.*]] = "stablehlo.slice"(%[[E]]) <{limit_indices = array<i64: 129>, start_indices = array<i64: 1>
// CHECK:      "stablehlo.dynamic_update_slice"(%{{.*}}, %[[P]], %{{.*}})
module {
  func.func public @main(%x: tensor<256xf32>) -> (tensor<f32>, tensor<256xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %e = stablehlo.exponential %x : tensor<256xf32>
    %r = stablehlo.reverse %e, dims = [0] : tensor<256xf32>
    %w = "stablehlo.reduce_window"(%r, %zero) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<256xf32>, tensor<f32>) -> tensor<256xf32>
    %q = stablehlo.multiply %w, %w : tensor<256xf32>
    %sum = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<256xf32>, tensor<f32>) -> tensor<f32>
    return %sum, %e : tensor<f32>, tensor<256xf32>
  }
}
