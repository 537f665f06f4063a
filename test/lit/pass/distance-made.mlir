// Points that are computed where all pairs are there already: what varies along the points of one side
// alone is made of these.
// RUN: %weir opt %s --pass=distance,dce | FileCheck %s
// RUN: %python %S/../run/same.py %weir %eval %s 0 --pass=distance,dce

// CHECK-NOT: 50x40x16
// CHECK:     %[[X:.*]] = "stablehlo.sine"(%arg0) : (tensor<50x16xf64>)
// CHECK:     %[[I:.*]] = "stablehlo.iota"() {{.*}} : () -> tensor<40xf64>
// CHECK:     "stablehlo.divide"(%[[I]], %{{.*}}) : (tensor<40xf64>, tensor<40xf64>)
// CHECK:     "stablehlo.dot_general"
// CHECK-NOT: 50x40x16
func.func public @main(%x: tensor<50x16xf64>, %y: tensor<40x16xf64>) -> tensor<50x40xf64> {
  %a = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<50x16xf64>) -> tensor<50x40x16xf64>
  %b = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<40x16xf64>) -> tensor<50x40x16xf64>
  %i = stablehlo.iota dim = 1 : tensor<50x40x16xf64>
  %c = stablehlo.constant dense<2.0> : tensor<50x40x16xf64>
  %j = stablehlo.divide %i, %c : tensor<50x40x16xf64>
  %s = stablehlo.sine %a : tensor<50x40x16xf64>
  %t = stablehlo.add %b, %j : tensor<50x40x16xf64>
  %d = stablehlo.subtract %s, %t : tensor<50x40x16xf64>
  %q = stablehlo.multiply %d, %d : tensor<50x40x16xf64>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %r = stablehlo.reduce(%q init: %z) applies stablehlo.add across dimensions = [2] : (tensor<50x40x16xf64>, tensor<f64>) -> tensor<50x40xf64>
  return %r : tensor<50x40xf64>
}
