// A loop in place: what it makes of the sorted columns, row by row, lies where they did. The while begins as what it
// reads; a slice is kept before it is written over. Where the last trip overlaps the one before, its slice is taken
// before the loop. XLA for devices keeps it by a barrier.
// RUN: %weir opt %s --tensor-size-threshold 500 --tensor-split-size 160 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 500 --tensor-split-size 120 | FileCheck %s --check-prefix=OVERLAP
// RUN: %weir opt %s --tensor-size-threshold 500 --tensor-split-size 160 --platform cuda | FileCheck %s --check-prefix=DEVICE
// RUN: %weir opt %s --tensor-size-threshold 500 --tensor-split-size 160 --platform tpu | FileCheck %s --check-prefix=TPU

// CHECK:      %[[S:[0-9]+]]:2 = "stablehlo.while"
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %[[S]]#1)
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<20x10xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<20x10xf32>):
// CHECK:      %[[D:[0-9]+]] = "stablehlo.dynamic_slice"(%[[X]], {{.*}} -> tensor<4x10xf32>
// CHECK-NEXT: "func.call"(%[[D]]) <{callee = @weir.keep.4x10xf32}>
// CHECK:      "stablehlo.dynamic_update_slice"(%[[X]],

// OVERLAP:      %[[S:[0-9]+]]:2 = "stablehlo.while"
// OVERLAP:      %[[L:[0-9]+]] = "stablehlo.slice"(%[[S]]#1) <{limit_indices = array<i64: 20, 10>, start_indices = array<i64: 17, 0>
// OVERLAP-NEXT: "stablehlo.while"(%{{[0-9]+}}, %[[S]]#1)
// OVERLAP:      %[[D:[0-9]+]] = "stablehlo.dynamic_slice"(%{{.*}} -> tensor<3x10xf32>
// OVERLAP-NEXT: %[[P:[0-9]+]] = "stablehlo.compare"(%[[START:[0-9]+]], %[[LO:[0-9]+]]){{.*}}LT
// OVERLAP-NEXT: %[[V:[0-9]+]] = "stablehlo.select"(%[[P]], %[[L]], %[[D]])
// OVERLAP-NEXT: "func.call"(%[[V]]) <{callee = @weir.keep.3x10xf32}>

// DEVICE:      %[[S:[0-9]+]]:2 = "stablehlo.while"
// DEVICE:      "stablehlo.while"(%{{[0-9]+}}, %[[S]]#1)
// DEVICE:      ^bb0(%{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<20x10xf32>):
// DEVICE:      ^bb0(%{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<20x10xf32>):
// DEVICE:      %[[D:[0-9]+]] = "stablehlo.dynamic_slice"(%[[X]], {{.*}} -> tensor<4x10xf32>
// DEVICE-NEXT: "stablehlo.optimization_barrier"(%[[D]])
// DEVICE:      "stablehlo.dynamic_update_slice"(%[[X]],
// DEVICE-NOT:  weir.keep

// TPU:     %[[S:[0-9]+]]:2 = "stablehlo.while"
// TPU:     "stablehlo.while"(%{{[0-9]+}}, %[[S]]#1)
// TPU:     "stablehlo.optimization_barrier"

func.func public @main(%x: tensor<20x10xf32>) -> tensor<10xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<20x10xf32>
  %s = "stablehlo.sort"(%e) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<20x10xf32>) -> tensor<20x10xf32>
  %n = stablehlo.sine %s : tensor<20x10xf32>
  %t = "stablehlo.sort"(%n) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<20x10xf32>) -> tensor<20x10xf32>
  %m = stablehlo.cosine %t : tensor<20x10xf32>
  %u = "stablehlo.sort"(%m) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<20x10xf32>) -> tensor<20x10xf32>
  %y = stablehlo.multiply %u, %u : tensor<20x10xf32>
  %r = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<20x10xf32>, tensor<f32>) -> tensor<10xf32>
  return %r : tensor<10xf32>
}
