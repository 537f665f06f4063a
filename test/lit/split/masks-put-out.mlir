// A mask that a loop puts out, as numbers: the loop behind, which multiplies with it, selects.
// RUN: %weir opt %s --tensor-size-threshold 1000 --pass=split,dce --stop-after split | FileCheck %s

// CHECK: "weir.loop"(%arg0, %arg1)
// CHECK: %[[M:.*]] = "stablehlo.convert"({{.*}}xi1>) -> tensor<{{.*}}xf32>
// CHECK: "weir.yield"(%[[M]], %{{.*}})
// CHECK: "stablehlo.custom_call"
// CHECK: "weir.loop"
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i64>, %[[S:.*]]: tensor<[[N:[0-9]+]]x32xf32>, %[[D:.*]]: tensor<[[N]]x32xf32>):
// CHECK: %[[P:.*]] = "stablehlo.compare"(%[[S]], %{{.*}}) {{.*}}comparison_direction NE
// CHECK: %[[R:.*]] = "stablehlo.select"(%[[P]], %[[D]], %{{.*}})
// CHECK-NEXT: "weir.yield"(%[[R]])
func.func public @main(%a: tensor<64xf32>, %b: tensor<32xf32>, %c: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<32xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ai = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<64xf32>) -> tensor<64x32xf32>
  %bj = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<64x32xf32>
  %e = stablehlo.divide %ai, %bj : tensor<64x32xf32>
  %p = stablehlo.compare NE, %e, %bj : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xi1>
  %m = stablehlo.convert %p : (tensor<64x32xi1>) -> tensor<64x32xf32>
  %d = stablehlo.custom_call @of_all(%m) : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = stablehlo.multiply %d, %m : tensor<64x32xf32>
  %t = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
  return %r, %t : tensor<64x32xf32>, tensor<32xf32>
}
