// Edges of the same indices that are made on their own share what they are made of: of %e and of %f, which is made of %e, the last
// row is made once. Nineteen directions of a lattice, rolled step after step, had 57,000 ops for 2,000.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split --debug 3 2>&1 | FileCheck %s

// CHECK: made 2 edges of large values on their own
// CHECK-COUNT-1: stablehlo.exponential{{.*}}tensor<1xf32>
// CHECK-NOT: stablehlo.exponential{{.*}}tensor<1xf32>
func.func public @main(%x: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
  %e = stablehlo.exponential %x : tensor<40xf32>
  %last_e = stablehlo.slice %e [39:40] : (tensor<40xf32>) -> tensor<1xf32>
  %rest_e = stablehlo.slice %e [0:39] : (tensor<40xf32>) -> tensor<39xf32>
  %rolled_e = stablehlo.concatenate %last_e, %rest_e, dim = 0 : (tensor<1xf32>, tensor<39xf32>) -> tensor<40xf32>
  %f = stablehlo.sine %e : tensor<40xf32>
  %last_f = stablehlo.slice %f [39:40] : (tensor<40xf32>) -> tensor<1xf32>
  %rest_f = stablehlo.slice %f [0:39] : (tensor<40xf32>) -> tensor<39xf32>
  %rolled_f = stablehlo.concatenate %last_f, %rest_f, dim = 0 : (tensor<1xf32>, tensor<39xf32>) -> tensor<40xf32>
  return %rolled_e, %rolled_f : tensor<40xf32>, tensor<40xf32>
}
