// A loop in place that writes what it does not make of the slice it writes over: the update goes through a call that has
// the slice, too. Else XLA, which does not know that the slice is read before, copies all rows in each trip. The sum
// alone is made of them.
// RUN: %weir opt %s --pass=lower | FileCheck %s
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %[[S:[a-z0-9]+]],
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<6x4xf32>,
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<6x4xf32>,
// CHECK:      %[[D:[0-9]+]] = "stablehlo.dynamic_slice"(%[[X]],
// CHECK:      %[[K:[0-9]+]] = "func.call"(%[[D]]) <{callee = @weir.keep.2x4xf32}>
// CHECK:      %[[N:[0-9]+]] = "stablehlo.negate"
// CHECK:      %[[A:[0-9]+]] = "func.call"(%[[N]], %[[K]]) <{callee = @weir.keep.2x4xf32.2x4xf32}>
// CHECK:      "stablehlo.dynamic_update_slice"(%[[X]], %[[A]],
// CHECK:      sym_name = "weir.keep.2x4xf32.2x4xf32"
func.func @main(%x: tensor<6x4xf32>, %z: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.sort"(%x) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %y:2 = "weir.loop"(%s, %z, %zero) <{extent = 6 : i64, slice = 2 : i64, in_dims = array<i64: 0, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 1, 1>}> ({
  ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %sum: tensor<f32>):
    %n = stablehlo.negate %b : tensor<2x4xf32>
    %r = stablehlo.reduce(%a init: %sum) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    "weir.yield"(%n, %r) : (tensor<2x4xf32>, tensor<f32>) -> ()
  }) : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<f32>) -> (tensor<6x4xf32>, tensor<f32>)
  return %y#0, %y#1 : tensor<6x4xf32>, tensor<f32>
}
