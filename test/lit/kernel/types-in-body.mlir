// What a reduction of two operands computes in complex numbers is no kernel: there is no code for them. The same without
// them is one.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 80MB --tile on --machine x86-64-v4 | FileCheck %s
// RUN: sed -e 's/complex<f32>/f32/g' %s | %weir opt - --memory-limit 80MB --tile on --machine x86-64-v4 | FileCheck %s --check-prefix=REAL

// CHECK-NOT: {{stablehlo[.]custom_call}}
// CHECK: stablehlo.compare EQ, %z
// REAL: {{stablehlo[.]custom_call}}
func.func @main(%x: tensor<4096xf32>, %i: tensor<4096x4096xi32>) -> (tensor<4096xf32>, tensor<4096xi32>) {
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4096xf32>) -> tensor<4096x4096xf32>
  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4096xf32>) -> tensor<4096x4096xf32>
  %c = stablehlo.multiply %a, %b : tensor<4096x4096xf32>
  %n = stablehlo.iota dim = 1 : tensor<4096x4096xi32>
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %s:2 = "stablehlo.reduce"(%c, %n, %0, %1) ({
    ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %t: tensor<i32>):
      %z = stablehlo.convert %p : (tensor<f32>) -> tensor<complex<f32>>
      %w = stablehlo.convert %r : (tensor<f32>) -> tensor<complex<f32>>
      %v = stablehlo.negate %p : tensor<f32>
      %e = stablehlo.compare EQ, %z, %w : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<i1>
      %g = stablehlo.compare GT, %p, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %h = stablehlo.or %e, %g : tensor<i1>
      %k = stablehlo.select %h, %p, %r : tensor<i1>, tensor<f32>
      %l = stablehlo.select %h, %q, %t : tensor<i1>, tensor<i32>
      stablehlo.return %k, %l : tensor<f32>, tensor<i32>
  }) {dimensions = array<i64: 1>} : (tensor<4096x4096xf32>, tensor<4096x4096xi32>, tensor<f32>, tensor<i32>) -> (tensor<4096xf32>, tensor<4096xi32>)
  return %s#0, %s#1 : tensor<4096xf32>, tensor<4096xi32>
}
