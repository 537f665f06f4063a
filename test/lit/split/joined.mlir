// RUN: %weir opt %s --pass=split,dce --tensor-size-threshold 4000 | FileCheck %s
// Two products over the same rows that are only added to each other: one carry, which both are added to
// in blocks, and the first sum is held apart from the second. A third one, which is returned as well,
// keeps its own.

// CHECK: %[[LOOP:[0-9]+]]:2 = "weir.loop"
// CHECK: ^bb0({{.*}}, %[[A:arg[0-9]+]]: tensor<32x32xf32>, %[[C:arg[0-9]+]]: tensor<32x32xf32>):
// CHECK: %[[FIRST:[0-9]+]] = "weir.loop"(%[[A]],
// CHECK: %[[S:[0-9]+]] = "stablehlo.add"(%{{[a-z0-9]+}}, %{{[0-9]+}}) {keep = true}
// CHECK: %[[T:[0-9]+]] = "stablehlo.add"(%[[S]], %{{[0-9]+}})
// CHECK-NEXT: "weir.yield"(%[[T]])
// CHECK: %[[SECOND:[0-9]+]] = "weir.loop"(%[[C]],
// CHECK: "weir.yield"(%[[FIRST]], %[[SECOND]])
// CHECK: %[[SUM:[0-9]+]] = "stablehlo.add"(%[[LOOP]]#0, %[[LOOP]]#1)
// CHECK: "func.return"(%[[SUM]], %[[LOOP]]#1)
func.func public @main(%x: tensor<1000x32xf32>, %y: tensor<1000x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %a = stablehlo.sine %x : tensor<1000x32xf32>
  %b = stablehlo.multiply %a, %y : tensor<1000x32xf32>
  %p = stablehlo.dot_general %a, %y, contracting_dims = [0] x [0] : (tensor<1000x32xf32>, tensor<1000x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.dot_general %b, %x, contracting_dims = [0] x [0] : (tensor<1000x32xf32>, tensor<1000x32xf32>) -> tensor<32x32xf32>
  %r = stablehlo.dot_general %b, %a, contracting_dims = [0] x [0] : (tensor<1000x32xf32>, tensor<1000x32xf32>) -> tensor<32x32xf32>
  %s = stablehlo.add %p, %q : tensor<32x32xf32>
  %t = stablehlo.add %s, %r : tensor<32x32xf32>
  return %t, %r : tensor<32x32xf32>, tensor<32x32xf32>
}
