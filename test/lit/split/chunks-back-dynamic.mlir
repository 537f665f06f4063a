// What a scan carries, and its stack is made of, has an unknown size: no states of it can be kept, so it is not made in two
// passes for the one that goes back.
// RUN: not %weir opt %s --memory-limit 150kB 2>&1 | FileCheck %s
// RUN: sed 's/?x64/3x64/g' %s > %t.known
// RUN: %weir opt %t.known --memory-limit 150kB --debug 3 2>&1 | FileCheck %s --check-prefix=KNOWN
// CHECK: RESOURCE_EXHAUSTED
// KNOWN: 1 scans in two passes
func.func public @main(%x: tensor<400x64xf32>, %s: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %zs = stablehlo.constant dense<0.0> : tensor<400x64xf32>
  %zv = stablehlo.constant dense<0.0> : tensor<64xf32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<400x64xf32>, tensor<64x64xf32>) -> tensor<400x64xf32>
  %a1 = stablehlo.tanh %a : tensor<400x64xf32>
  %f:4 = stablehlo.while(%i = %i0, %h = %s, %st = %zs, %av = %a1) : tensor<i32>, tensor<?x64xf32>, tensor<400x64xf32>, tensor<400x64xf32>
    cond {
      %n = stablehlo.constant dense<400> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %k0 = stablehlo.constant dense<0> : tensor<i32>
      %zz = stablehlo.constant dense<0.0> : tensor<f32>
      %row = stablehlo.dynamic_slice %av, %i, %k0, sizes = [1, 64] : (tensor<400x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
      %r1 = stablehlo.reshape %row : (tensor<1x64xf32>) -> tensor<64xf32>
      %hs = stablehlo.reduce(%h init: %zz) applies stablehlo.add across dimensions = [0] : (tensor<?x64xf32>, tensor<f32>) -> tensor<64xf32>
      %y = stablehlo.multiply %hs, %r1 : tensor<64xf32>
      %y1 = stablehlo.reshape %y : (tensor<64xf32>) -> tensor<1x64xf32>
      %st2 = stablehlo.dynamic_update_slice %st, %y1, %i, %k0 : (tensor<400x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<400x64xf32>
      %h2 = stablehlo.tanh %h : tensor<?x64xf32>
      %i2 = stablehlo.add %i, %o : tensor<i32>
      stablehlo.return %i2, %h2, %st2, %av : tensor<i32>, tensor<?x64xf32>, tensor<400x64xf32>, tensor<400x64xf32>
    }
  %b:4 = stablehlo.while(%i = %i0, %g = %zv, %acc = %zs, %ys = %f#2) : tensor<i32>, tensor<64xf32>, tensor<400x64xf32>, tensor<400x64xf32>
    cond {
      %n = stablehlo.constant dense<400> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %o = stablehlo.constant dense<1> : tensor<i32>
      %k0 = stablehlo.constant dense<0> : tensor<i32>
      %m = stablehlo.constant dense<399> : tensor<i32>
      %j = stablehlo.subtract %m, %i : tensor<i32>
      %row = stablehlo.dynamic_slice %ys, %j, %k0, sizes = [1, 64] : (tensor<400x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
      %r1 = stablehlo.reshape %row : (tensor<1x64xf32>) -> tensor<64xf32>
      %g1 = stablehlo.add %g, %r1 : tensor<64xf32>
      %g2 = stablehlo.tanh %g1 : tensor<64xf32>
      %y1 = stablehlo.reshape %g2 : (tensor<64xf32>) -> tensor<1x64xf32>
      %st2 = stablehlo.dynamic_update_slice %acc, %y1, %j, %k0 : (tensor<400x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<400x64xf32>
      %i2 = stablehlo.add %i, %o : tensor<i32>
      stablehlo.return %i2, %g2, %st2, %ys : tensor<i32>, tensor<64xf32>, tensor<400x64xf32>, tensor<400x64xf32>
    }
  %r = stablehlo.dot_general %x, %b#2, contracting_dims = [0] x [0] : (tensor<400x64xf32>, tensor<400x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
