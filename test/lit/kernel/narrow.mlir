// bf16 in, bf16 out, f32 in registers: the body has converts behind its arguments and in front of its result, and what the program has as
// bf16 in between is rounded to it; not what is chosen among such numbers, and not once more what the last convert rounds.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 40000 --tile on --machine x86-64-v4 | FileCheck %s

// CHECK: weir-tile
// CHECK-SAME: %4 = \22stablehlo.dot_general\22
// CHECK-SAME: %5 = \22weir.round\22(%4) <{format = bf16}>
// CHECK-SAME: %6 = \22stablehlo.abs\22(%5)
// CHECK-SAME: %7 = \22stablehlo.exponential\22(%6)
// CHECK-SAME: %8 = \22weir.round\22(%7) <{format = f16}>
// CHECK-SAME: %9 = \22stablehlo.dot_general\22(%8, %3)
// CHECK-SAME: \22stablehlo.convert\22(%9)
// CHECK-NOT: weir.round
// CHECK-NOT: stablehlo.while
// CHECK-NOT: tensor<100x300xbf16>
func.func @main(%x: tensor<100x20xbf16>, %y: tensor<300x20xbf16>, %v: tensor<300x20xf16>) -> tensor<100x20xf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<100x20xbf16>, tensor<300x20xbf16>) -> tensor<100x300xbf16>
  %1 = stablehlo.abs %0 : tensor<100x300xbf16>
  %2 = stablehlo.convert %1 : (tensor<100x300xbf16>) -> tensor<100x300xf32>
  %3 = stablehlo.exponential %2 : tensor<100x300xf32>
  %4 = stablehlo.convert %3 : (tensor<100x300xf32>) -> tensor<100x300xf16>
  %5 = stablehlo.dot_general %4, %v, contracting_dims = [1] x [0] : (tensor<100x300xf16>, tensor<300x20xf16>) -> tensor<100x20xf16>
  return %5 : tensor<100x20xf16>
}
