// Products that loops leave as they are: with masks that XLA multiplies by, too, and beside the
// convert, where XLA selects.
// RUN: %weir opt %s --tensor-size-threshold 1000 --pass=split,dce --stop-after split | FileCheck %s

// CHECK: "weir.loop"
// CHECK-NOT: "stablehlo.compare"{{.*}}xf32>
// CHECK-COUNT-5: "stablehlo.multiply"
// CHECK-NOT: "stablehlo.compare"{{.*}}xf32>
// CHECK: "weir.yield"
func.func public @main(%a: tensor<64xf32>, %b: tensor<32xf32>, %p: tensor<64xi1>, %one: tensor<1xi1>, %big: tensor<64x32xi1>) -> (tensor<32xf32>, tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ai = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<64xf32>) -> tensor<64x32xf32>
  %bj = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<64x32xf32>
  %q = stablehlo.divide %ai, %bj : tensor<64x32xf32>
  %s = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>

  // bf16.
  %mb = stablehlo.convert %p : (tensor<64xi1>) -> tensor<64xbf16>
  %sb = stablehlo.convert %s : (tensor<64xf32>) -> tensor<64xbf16>
  %yb = stablehlo.multiply %sb, %mb : tensor<64xbf16>
  %y0 = stablehlo.convert %yb : (tensor<64xbf16>) -> tensor<64xf32>

  // By way of whole numbers.
  %mi = stablehlo.convert %p : (tensor<64xi1>) -> tensor<64xi32>
  %mf = stablehlo.convert %mi : (tensor<64xi32>) -> tensor<64xf32>
  %y1 = stablehlo.multiply %s, %mf : tensor<64xf32>

  // Repeated, before and behind.
  %m1 = stablehlo.convert %one : (tensor<1xi1>) -> tensor<1xf32>
  %mr = stablehlo.broadcast_in_dim %m1, dims = [0] : (tensor<1xf32>) -> tensor<64xf32>
  %y2 = stablehlo.multiply %s, %mr : tensor<64xf32>
  %p64 = stablehlo.broadcast_in_dim %one, dims = [0] : (tensor<1xi1>) -> tensor<64xi1>
  %mp = stablehlo.convert %p64 : (tensor<64xi1>) -> tensor<64xf32>
  %y3 = stablehlo.multiply %s, %mp : tensor<64xf32>

  // Beside its convert.
  %mq = stablehlo.convert %big : (tensor<64x32xi1>) -> tensor<64x32xf32>
  %qm = stablehlo.multiply %q, %mq : tensor<64x32xf32>

  %y01 = stablehlo.add %y0, %y1 : tensor<64xf32>
  %y23 = stablehlo.add %y2, %y3 : tensor<64xf32>
  %y = stablehlo.add %y01, %y23 : tensor<64xf32>
  %yi = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<64xf32>) -> tensor<64x32xf32>
  %r = stablehlo.add %qm, %yi : tensor<64x32xf32>
  %t = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x32xf32>, tensor<f32>) -> tensor<32xf32>
  return %t, %mb, %mf, %mr, %mp : tensor<32xf32>, tensor<64xbf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
