// A matrix of more bytes than 63 bits hold, with a prime number of rows: a refusal names what is
// needed, a number of bytes that is never beyond these bits; the length of a slice that divides the
// rows is not looked for among all of a slice's lengths; nor is a time beyond these bits.
// RUN: not %weir opt %s --memory-limit 1000 --search-ops 1000 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: %weir opt %s --tensor-size-threshold 100000TB --debug 3 2>&1 >/dev/null | FileCheck %s
// RUN: %weir plan %s --limits 20TB | FileCheck %s --check-prefix=TIME

// REFUSED: no way found under the limit of 1.00 kB: set it to 9223372036854775807 bytes or more
// CHECK: extent 1099511627791, slice 11822705676,
// TIME: {{20.0 TB +8.80 TB +1 +1099511627791 +9.22e\+18 +1.00$}}
func.func @main(%x: tensor<1099511627791xf32>, %y: tensor<2097152xf32>) -> (tensor<1099511627791xf32>, tensor<2097152xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1099511627791xf32>) -> tensor<1099511627791x2097152xf32>
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<2097152xf32>) -> tensor<1099511627791x2097152xf32>
  %k = stablehlo.atan2 %a, %b : tensor<1099511627791x2097152xf32>
  %r = stablehlo.reduce(%k init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1099511627791x2097152xf32>, tensor<f32>) -> tensor<1099511627791xf32>
  %c = stablehlo.reduce(%k init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<1099511627791x2097152xf32>, tensor<f32>) -> tensor<2097152xf32>
  return %r, %c : tensor<1099511627791xf32>, tensor<2097152xf32>
}
