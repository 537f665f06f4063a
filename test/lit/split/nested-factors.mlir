// A product of which both sides are computed and large: the side that the loop over rows reads
// whole is made anew in each trip, by slices of a second factor.
// RUN: %weir opt %s --memory-limit 600kB > %t
// RUN: FileCheck %s < %t
// RUN: not grep -E "400x500x|500x400x|500x300x" %t
// CHECK: "stablehlo.while"
// CHECK:   "stablehlo.while"
// CHECK: "func.return"
func.func public @main(%a: tensor<400x1xf32>, %b: tensor<500x1xf32>, %c: tensor<300x1xf32>) -> tensor<400x300xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<400x1xf32>, tensor<500x1xf32>) -> tensor<400x500xf32>
  %1 = stablehlo.exponential %0 : tensor<400x500xf32>
  %2 = stablehlo.dot_general %b, %c, contracting_dims = [1] x [1] : (tensor<500x1xf32>, tensor<300x1xf32>) -> tensor<500x300xf32>
  %3 = stablehlo.sine %2 : tensor<500x300xf32>
  %4 = stablehlo.dot_general %1, %3, contracting_dims = [1] x [0] : (tensor<400x500xf32>, tensor<500x300xf32>) -> tensor<400x300xf32>
  return %4 : tensor<400x300xf32>
}
