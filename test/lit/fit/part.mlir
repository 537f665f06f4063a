// Of a region in two loops one becomes a kernel; the other, which none covers, is computed as before, from a matrix made anew.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --memory-limit 10GB --tile auto --machine x86-64-v4 --debug 3 2>&1 >/dev/null | FileCheck %s --check-prefix=LOG

// LOG: no kernel:
// LOG: as 1 kernels
// CHECK: call_target_name = "weir_tile"
// CHECK-NOT: weir.loop
// CHECK-NOT: stablehlo.while
// CHECK: "func.return"

module @neighbours {
  func.func @main(%q: tensor<2000x3xf32>) -> tensor<2000xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.dot_general %q, %q, contracting_dims = [1] x [1] : (tensor<2000x3xf32>, tensor<2000x3xf32>) -> tensor<2000x2000xf32>
    %w = stablehlo.sine %s : tensor<2000x2000xf32>
    %l = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2000x2000xf32>, tensor<f32>) -> tensor<2000xf32>
    %ll = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<2000xf32>) -> tensor<2000x2000xf32>
    %d = stablehlo.subtract %s, %ll : tensor<2000x2000xf32>
    %m = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2000x2000xf32>, tensor<f32>) -> tensor<2000xf32>
    %mm = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2000xf32>) -> tensor<2000x2000xf32>
    %p = stablehlo.subtract %d, %mm : tensor<2000x2000xf32>
    %i = stablehlo.iota dim = 0 : tensor<2000x2xi32>
    %o = "stablehlo.gather"(%p, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<2000x2000xf32>, tensor<2000x2xi32>) -> tensor<2000xf32>
    %r = stablehlo.add %o, %l : tensor<2000xf32>
    return %r : tensor<2000xf32>
  }
}
