// Products with masks that loops part from their converts select, as XLA's beside their converts do.
// RUN: %weir opt %s --tensor-size-threshold 1000 --pass=split,dce --stop-after split | FileCheck %s

// Slices of a mask that was converted outside.
// CHECK: sym_name = "main"
// CHECK: %[[M:.*]] = "stablehlo.convert"(%arg2)
// CHECK: "weir.loop"(%arg0, %arg1, %[[M]], %{{.*}})
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i64>, %{{.*}}: tensor<[[N:[0-9]+]]xf32>, %{{.*}}: tensor<32xf32>, %[[S:.*]]: tensor<[[N]]xf32>, %{{.*}}: tensor<32xf32>):
// CHECK: %[[SUM:.*]] = "stablehlo.reduce"
// CHECK: %[[Z:.*]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<[[N]]xf32>}>
// CHECK: %[[P:.*]] = "stablehlo.compare"(%[[S]], %[[Z]]) {{.*}}comparison_direction NE
// CHECK: "stablehlo.select"(%[[P]], %[[SUM]], %{{.*}})
// CHECK-NOT: "stablehlo.multiply"
// CHECK: "func.return"
func.func public @main(%a: tensor<64xf32>, %b: tensor<32xf32>, %p: tensor<64xi1>) -> (tensor<32xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.convert %p : (tensor<64xi1>) -> tensor<64xf32>
  %ai = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<64xf32>) -> tensor<64x32xf32>
  %bj = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<64x32xf32>
  %q = stablehlo.divide %ai, %bj : tensor<64x32xf32>
  %s = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
  %sm = stablehlo.multiply %m, %s : tensor<64xf32>
  %si = stablehlo.broadcast_in_dim %sm, dims = [0] : (tensor<64xf32>) -> tensor<64x32xf32>
  %r = stablehlo.add %q, %si : tensor<64x32xf32>
  %t = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
  return %t, %m : tensor<32xf32>, tensor<64xf32>
}
