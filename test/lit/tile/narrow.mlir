// bf16 in, bf16 out, f32 in between: the body has converts behind its arguments and in front of its result, nowhere else.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 40000 --tile on --machine x86-64-v4 | FileCheck %s

// CHECK: weir_tile
// CHECK-NOT: stablehlo.while
// CHECK-NOT: tensor<100x300xbf16>
func.func @main(%x: tensor<100x20xbf16>, %y: tensor<300x20xbf16>, %v: tensor<300x20xbf16>) -> tensor<100x20xbf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<100x20xbf16>, tensor<300x20xbf16>) -> tensor<100x300xbf16>
  %1 = stablehlo.exponential %0 : tensor<100x300xbf16>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<100x300xbf16>, tensor<300x20xbf16>) -> tensor<100x20xbf16>
  return %2 : tensor<100x20xbf16>
}
