// A loop adds up an outer product a trip, and what reads the sum is linear: each trip adds to what that makes of it. What
// is joined to the sum on the way (%a) is read once, behind the loop; what the readers need in the loop (%w) moves in
// front of it.
// RUN: %weir opt %s --tensor-size-threshold 20000 --stop-after split | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 20000 --skip accumulators --stop-after split | FileCheck %s --check-prefix=OFF

// OFF: "stablehlo.while"({{.*}}) ({
// OFF: ^bb0({{.*}}: tensor<100x90xf64>

// CHECK-LABEL: sym_name = "main"
// CHECK:      %[[W:.*]] = "stablehlo.cosine"
// CHECK:      %[[SUM:.*]]:2 = "stablehlo.while"(
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[P:.*]]: tensor<100x2xf64>):
// CHECK:        stablehlo.return
// CHECK:        %[[PART:.*]] = "weir.loop"(%{{.*}}, %{{.*}}, %[[W]]) ({
// CHECK:        "stablehlo.add"(%{{.*}}, %[[PART]])
// CHECK:      %[[FIRST:.*]] = "weir.loop"(%{{.*}}, %[[W]]) ({
// CHECK:      "stablehlo.add"(%[[FIRST]], %[[SUM]]#1)
func.func public @main(%x: tensor<100xf64>, %y: tensor<90xf64>, %v: tensor<90x2xf64>, %b: tensor<100xf64>) -> tensor<100x2xf64> {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %init = stablehlo.constant dense<0.0> : tensor<100x90xf64>
  %r:2 = stablehlo.while(%i = %zero, %s = %init) : tensor<i64>, tensor<100x90xf64>
  cond {
    %n = stablehlo.constant dense<7> : tensor<i64>
    %more = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %next = stablehlo.add %i, %one : tensor<i64>
    %f = stablehlo.convert %i : (tensor<i64>) -> tensor<f64>
    %fs = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f64>) -> tensor<100xf64>
    %xi = stablehlo.multiply %x, %fs : tensor<100xf64>
    %u = stablehlo.dot_general %xi, %y, contracting_dims = [] x [] : (tensor<100xf64>, tensor<90xf64>) -> tensor<100x90xf64>
    %t = stablehlo.add %s, %u : tensor<100x90xf64>
    stablehlo.return %next, %t : tensor<i64>, tensor<100x90xf64>
  }
  %br = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<100xf64>) -> tensor<100x90xf64>
  %a = stablehlo.exponential %br : tensor<100x90xf64>
  %joined = stablehlo.add %a, %r#1 : tensor<100x90xf64>
  %w = stablehlo.cosine %v : tensor<90x2xf64>
  %out = stablehlo.dot_general %joined, %w, contracting_dims = [1] x [0] : (tensor<100x90xf64>, tensor<90x2xf64>) -> tensor<100x2xf64>
  return %out : tensor<100x2xf64>
}
