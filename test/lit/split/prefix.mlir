// Prefix sums along the sliced dimension: each trip needs what stands before its slice. The last
// slice overlaps the one before, so what is carried on to it is an element in the midst of that.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: %[[P:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} -> tensor<1xf32>
// CHECK: "weir.loop"(%{{.*}}, %[[P]]{{.*}} <{scratch = -1 : i64}>
// CHECK-NEXT: ^bb0(%[[START:.*]]: tensor<i64>, %[[LO:.*]]: tensor<i64>, %{{.*}}: tensor<11xf32>, {{.*}}%[[C:[a-z0-9]+]]: tensor<1xf32>
// CHECK: %[[PART:.*]] = "stablehlo.reduce_window"(%{{.*}}) <{padding = dense<{{\[\[10, 0\]\]}}> : tensor<1x2xi64>, window_dimensions = array<i64: 11>}>
// CHECK: "stablehlo.slice"(%[[C]])
// CHECK: %[[Y:.*]] = "stablehlo.add"(%{{.*}}, %[[PART]])
// CHECK: %[[NEXT:.*]] = "stablehlo.add"(%[[LO]], %{{.*}})
// CHECK: %[[LAST:.*]] = "stablehlo.constant"() <{value = dense<53>
// CHECK: %[[FROM:.*]] = "stablehlo.minimum"(%[[NEXT]], %[[LAST]])
// CHECK: "stablehlo.subtract"(%[[FROM]], %[[START]])
// CHECK: "stablehlo.dynamic_slice"(%[[Y]], %{{.*}}) <{slice_sizes = array<i64: 1>}>
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
