// Where an edge lies is known. What it reads is a slice, not a gather that stays between the ends, and edges of values of
// other lengths share it where their indices are the same: %e is made once at 38 and once at 39.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split --debug 3 2>&1 | FileCheck %s

// CHECK: made 3 edges of large values on their own
// CHECK-NOT: stablehlo.gather
// CHECK-COUNT-2: stablehlo.exponential{{.*}}tensor<1xf32>
// CHECK-NOT: stablehlo.exponential{{.*}}tensor<1xf32>
// CHECK-NOT: stablehlo.gather
// CHECK: weir.loop
func.func public @main(%x: tensor<40xf32>) -> (tensor<40xf32>, tensor<39xf32>) {
  %e = stablehlo.exponential %x : tensor<40xf32>
  %last_e = stablehlo.slice %e [39:40] : (tensor<40xf32>) -> tensor<1xf32>
  %rest_e = stablehlo.slice %e [0:39] : (tensor<40xf32>) -> tensor<39xf32>
  %rolled_e = stablehlo.concatenate %last_e, %rest_e, dim = 0 : (tensor<1xf32>, tensor<39xf32>) -> tensor<40xf32>
  %f = stablehlo.sine %rolled_e : tensor<40xf32>
  %last_f = stablehlo.slice %f [39:40] : (tensor<40xf32>) -> tensor<1xf32>
  %rest_f = stablehlo.slice %f [0:39] : (tensor<40xf32>) -> tensor<39xf32>
  %rolled_f = stablehlo.concatenate %last_f, %rest_f, dim = 0 : (tensor<1xf32>, tensor<39xf32>) -> tensor<40xf32>
  %g = stablehlo.slice %e [1:40] : (tensor<40xf32>) -> tensor<39xf32>
  %h = stablehlo.cosine %g : tensor<39xf32>
  %last_h = stablehlo.slice %h [38:39] : (tensor<39xf32>) -> tensor<1xf32>
  %rest_h = stablehlo.slice %h [0:38] : (tensor<39xf32>) -> tensor<38xf32>
  %rolled_h = stablehlo.concatenate %last_h, %rest_h, dim = 0 : (tensor<1xf32>, tensor<38xf32>) -> tensor<39xf32>
  return %rolled_f, %rolled_h : tensor<40xf32>, tensor<39xf32>
}
