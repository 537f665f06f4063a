// 24 steps and their way back, each of which waits for a sum: 48 stages, each of which makes all before it: 1176 products in all.
// Where there is room, what crosses the cuts between segments of stages is put out once. A value has 320 kB; arguments and results
// are 640 kB.
// RUN: %weir opt %s --memory-limit 8MB --tile off --debug 5 2>%t.log >%t
// RUN: FileCheck %s --check-prefix=ONE <%t.log
// RUN: FileCheck %s --check-prefix=PRODUCTS <%t
// RUN: %weir opt %s --memory-limit 4MB --tile off --debug 5 2>&1 >/dev/null | FileCheck %s --check-prefix=THREE
// RUN: %weir opt %s --memory-limit 1MB --tile off --debug 5 2>&1 >/dev/null | FileCheck %s --check-prefix=NONE
// RUN: %weir opt %s --tensor-size-threshold 300kB --debug 5 2>&1 >/dev/null | FileCheck %s --check-prefix=LEFT
// Each stage begins with what the one before has put out, and the way back makes one step again. Values that are there for some
// stages make it less.
// ONE: 48 stages in segments of 1: cuts of 4160000 bytes
// ONE-NEXT: 63 spans of {{[0-9]+}} values: 1.19 times the work of all members, 1.33 without
// Nothing of it shifts, so it is not grown once more for that.
// ONE-NOT: held and read as wholes
// PRODUCTS-COUNT-62: "stablehlo.dot_general"
// PRODUCTS-NOT: "stablehlo.dot_general"
// The shortest segments whose cuts have room, and these where least crosses: at every third stage 2880000 bytes would.
// THREE: 48 stages in segments of 2: cuts of 4160000 bytes
// THREE-NEXT: 48 stages in segments of 3: cuts of 1920000 bytes
// THREE-NEXT: 60 spans of {{[0-9]+}} values: 1.43 times the work of all members, 2.82 without
// Where none has, all is made again.
// NONE: 48 stages in segments of 41: cuts of 320000 bytes
// NONE-NEXT: 0 spans of 0 values
// NONE: split stablehlo.dot_general: extent 10000
// Without a limit there is no room.
// LEFT-NOT: segments of
func.func public @main(%x0: tensor<10000x8xf32>, %w: tensor<8x8xf32>) -> tensor<10000x8xf32> {
  %x1 = call @step(%x0, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x2 = call @step(%x1, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x3 = call @step(%x2, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x4 = call @step(%x3, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x5 = call @step(%x4, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x6 = call @step(%x5, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x7 = call @step(%x6, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x8 = call @step(%x7, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x9 = call @step(%x8, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x10 = call @step(%x9, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x11 = call @step(%x10, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x12 = call @step(%x11, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x13 = call @step(%x12, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x14 = call @step(%x13, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x15 = call @step(%x14, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x16 = call @step(%x15, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x17 = call @step(%x16, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x18 = call @step(%x17, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x19 = call @step(%x18, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x20 = call @step(%x19, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x21 = call @step(%x20, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x22 = call @step(%x21, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x23 = call @step(%x22, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %x24 = call @step(%x23, %w) : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g23 = call @back(%x24, %x23, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g22 = call @back(%g23, %x22, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g21 = call @back(%g22, %x21, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g20 = call @back(%g21, %x20, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g19 = call @back(%g20, %x19, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g18 = call @back(%g19, %x18, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g17 = call @back(%g18, %x17, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g16 = call @back(%g17, %x16, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g15 = call @back(%g16, %x15, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g14 = call @back(%g15, %x14, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g13 = call @back(%g14, %x13, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g12 = call @back(%g13, %x12, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g11 = call @back(%g12, %x11, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g10 = call @back(%g11, %x10, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g9 = call @back(%g10, %x9, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g8 = call @back(%g9, %x8, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g7 = call @back(%g8, %x7, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g6 = call @back(%g7, %x6, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g5 = call @back(%g6, %x5, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g4 = call @back(%g5, %x4, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g3 = call @back(%g4, %x3, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g2 = call @back(%g3, %x2, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g1 = call @back(%g2, %x1, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  %g0 = call @back(%g1, %x0, %w) : (tensor<10000x8xf32>, tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  return %g0 : tensor<10000x8xf32>
}
func.func private @step(%x: tensor<10000x8xf32>, %w: tensor<8x8xf32>) -> tensor<10000x8xf32> {
  %none = stablehlo.constant dense<1.0> : tensor<f32>
  %xx = stablehlo.multiply %x, %x : tensor<10000x8xf32>
  %s = stablehlo.reduce(%xx init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<10000x8xf32>, tensor<f32>) -> tensor<f32>
  %r = stablehlo.rsqrt %s : tensor<f32>
  %b = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<10000x8xf32>
  %y = stablehlo.multiply %x, %b : tensor<10000x8xf32>
  %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  return %z : tensor<10000x8xf32>
}
func.func private @back(%g: tensor<10000x8xf32>, %x: tensor<10000x8xf32>, %w: tensor<8x8xf32>) -> tensor<10000x8xf32> {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %gx = stablehlo.multiply %g, %x : tensor<10000x8xf32>
  %s = stablehlo.reduce(%gx init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<10000x8xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<10000x8xf32>
  %c = stablehlo.cosine %x : tensor<10000x8xf32>
  %h = stablehlo.multiply %g, %c : tensor<10000x8xf32>
  %d = stablehlo.add %h, %b : tensor<10000x8xf32>
  %z = stablehlo.dot_general %d, %w, contracting_dims = [1] x [1] : (tensor<10000x8xf32>, tensor<8x8xf32>) -> tensor<10000x8xf32>
  return %z : tensor<10000x8xf32>
}
