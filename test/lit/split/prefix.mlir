// Prefix sums along the sliced dimension: each trip needs what stands before its slice. The last
// slice overlaps the one before, so the carry is the whole trip before.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: %[[P:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} -> tensor<12xf32>
// CHECK: "weir.loop"(%{{.*}}, %[[P]]{{.*}} <{scratch = -1 : i64}>
// CHECK-NEXT: ^bb0(%[[START:.*]]: tensor<i64>, %[[LO:.*]]: tensor<i64>, %{{.*}}: tensor<11xf32>, {{.*}}%[[C:[a-z0-9]+]]: tensor<12xf32>
// CHECK: %[[BY:.*]] = "stablehlo.subtract"(%[[START]], %[[LO]])
// CHECK: %[[AT:.*]] = "stablehlo.add"(%[[BY]],
// CHECK: %[[ONE:.*]] = "stablehlo.dynamic_slice"(%[[C]], %{{.*}}) <{slice_sizes = array<i64: 1>}>
// CHECK: %[[PART:.*]] = "stablehlo.reduce_window"(%{{.*}}) <{padding = dense<{{\[\[10, 0\]\]}}> : tensor<1x2xi64>, window_dimensions = array<i64: 11>}>
// CHECK: %[[Y:.*]] = "stablehlo.add"(%{{.*}}, %[[PART]])
// CHECK: "stablehlo.concatenate"(%[[ONE]], %[[Y]])
func.func public @main(%x: tensor<64xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<64xf32>
  %p = "stablehlo.reduce_window"(%e, %zero) <{padding = dense<[[63, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %t = stablehlo.tanh %p : tensor<64xf32>
  %s = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
