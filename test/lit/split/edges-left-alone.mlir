// No edges are made on their own: of more than a sixteenth (%long), that somebody else reads, who may compare
// it with what stands there (%same), with gaps (%every), cut along two dimensions (%corner), of what is not
// made row by row (%least).
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split --debug 3 2>&1 | FileCheck %s

// CHECK:     pass split
// CHECK-NOT: edges of large values
func.func public @main(%x: tensor<40xf32>, %y: tensor<40x8xf32>) -> (tensor<43xf32>, tensor<41xf32>, tensor<1xi1>, tensor<41xf32>, tensor<41x1xf32>, tensor<41xf32>) {
  %e = stablehlo.exponential %x : tensor<40xf32>
  %long = stablehlo.slice %e [37:40] : (tensor<40xf32>) -> tensor<3xf32>
  %r0 = stablehlo.concatenate %long, %e, dim = 0 : (tensor<3xf32>, tensor<40xf32>) -> tensor<43xf32>

  %same = stablehlo.slice %e [39:40] : (tensor<40xf32>) -> tensor<1xf32>
  %r1 = stablehlo.concatenate %same, %e, dim = 0 : (tensor<1xf32>, tensor<40xf32>) -> tensor<41xf32>
  %first = stablehlo.slice %x [0:1] : (tensor<40xf32>) -> tensor<1xf32>
  %r2 = stablehlo.compare EQ, %same, %first : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>

  %every = stablehlo.slice %e [1:40:39] : (tensor<40xf32>) -> tensor<1xf32>
  %r3 = stablehlo.concatenate %every, %e, dim = 0 : (tensor<1xf32>, tensor<40xf32>) -> tensor<41xf32>

  %f = stablehlo.exponential %y : tensor<40x8xf32>
  %corner = stablehlo.slice %f [39:40, 7:8] : (tensor<40x8xf32>) -> tensor<1x1xf32>
  %column = stablehlo.slice %f [0:40, 0:1] : (tensor<40x8xf32>) -> tensor<40x1xf32>
  %r4 = stablehlo.concatenate %corner, %column, dim = 0 : (tensor<1x1xf32>, tensor<40x1xf32>) -> tensor<41x1xf32>

  %o = "stablehlo.sort"(%e) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %l = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<40xf32>) -> tensor<40xf32>
  %least = stablehlo.slice %o [0:1] : (tensor<40xf32>) -> tensor<1xf32>
  %r5 = stablehlo.concatenate %o, %least, dim = 0 : (tensor<40xf32>, tensor<1xf32>) -> tensor<41xf32>
  return %r0, %r1, %r2, %r3, %r4, %r5 : tensor<43xf32>, tensor<41xf32>, tensor<1xi1>, tensor<41xf32>, tensor<41x1xf32>, tensor<41xf32>
}
