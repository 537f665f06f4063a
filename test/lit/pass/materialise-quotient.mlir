// RUN: %weir opt %s --machine x86-64-v3 --pass=materialise | FileCheck %s
// What a row is divided by is one number: XLA multiplies by its inverse, and makes the row anew for
// each row of the matrix.
// A quotient by another vector it keeps:
// RUN: sed 's/divide %d59, %7/divide %d59, %w/' %s | %weir opt - --machine x86-64-v3 --pass=materialise | FileCheck %s --check-prefix=VECTOR
// VECTOR: stablehlo.divide
// VECTOR-NOT: weir.keep
//
// Under a limit that the program holds in another order the row is written, without a timer.
// RUN: %weir opt %s --machine x86-64-v3 --memory-limit 20000000 | FileCheck %s
// CHECK: stablehlo.divide
// CHECK-NEXT: weir.keep
// CHECK-NOT: callee = @weir.keep
//
// A row of a few ops less gains too little for that, though it fits:
// RUN: sed -e '/^\/\//d' -e 's/divide %d59, %7/divide %d5, %7/' %s | %weir opt - --machine x86-64-v3 --memory-limit 20000000 | FileCheck %s --check-prefix=SURE
// RUN: sed -e '/^\/\//d' -e 's/divide %d59, %7/divide %d4, %7/' %s | %weir opt - --machine x86-64-v3 --memory-limit 20000000 --debug 3 2>&1 | FileCheck %s --check-prefix=UNSURE
// SURE: @weir.keep
// UNSURE: 1 values written that would be made again: estimated peak 16400576
// UNSURE-NOT: @weir.keep

module {
  func.func public @main(%x: tensor<2048xf32>, %w: tensor<2048xf32>, %n: tensor<2000xf32>) -> tensor<2000x2046xf32> {
    %c0 = stablehlo.multiply %x, %w : tensor<2048xf32>
    %d0 = stablehlo.add %c0, %x : tensor<2048xf32>
    %c1 = stablehlo.multiply %d0, %w : tensor<2048xf32>
    %d1 = stablehlo.add %c1, %x : tensor<2048xf32>
    %c2 = stablehlo.multiply %d1, %w : tensor<2048xf32>
    %d2 = stablehlo.add %c2, %x : tensor<2048xf32>
    %c3 = stablehlo.multiply %d2, %w : tensor<2048xf32>
    %d3 = stablehlo.add %c3, %x : tensor<2048xf32>
    %c4 = stablehlo.multiply %d3, %w : tensor<2048xf32>
    %d4 = stablehlo.add %c4, %x : tensor<2048xf32>
    %c5 = stablehlo.multiply %d4, %w : tensor<2048xf32>
    %d5 = stablehlo.add %c5, %x : tensor<2048xf32>
    %c6 = stablehlo.multiply %d5, %w : tensor<2048xf32>
    %d6 = stablehlo.add %c6, %x : tensor<2048xf32>
    %c7 = stablehlo.multiply %d6, %w : tensor<2048xf32>
    %d7 = stablehlo.add %c7, %x : tensor<2048xf32>
    %c8 = stablehlo.multiply %d7, %w : tensor<2048xf32>
    %d8 = stablehlo.add %c8, %x : tensor<2048xf32>
    %c9 = stablehlo.multiply %d8, %w : tensor<2048xf32>
    %d9 = stablehlo.add %c9, %x : tensor<2048xf32>
    %c10 = stablehlo.multiply %d9, %w : tensor<2048xf32>
    %d10 = stablehlo.add %c10, %x : tensor<2048xf32>
    %c11 = stablehlo.multiply %d10, %w : tensor<2048xf32>
    %d11 = stablehlo.add %c11, %x : tensor<2048xf32>
    %c12 = stablehlo.multiply %d11, %w : tensor<2048xf32>
    %d12 = stablehlo.add %c12, %x : tensor<2048xf32>
    %c13 = stablehlo.multiply %d12, %w : tensor<2048xf32>
    %d13 = stablehlo.add %c13, %x : tensor<2048xf32>
    %c14 = stablehlo.multiply %d13, %w : tensor<2048xf32>
    %d14 = stablehlo.add %c14, %x : tensor<2048xf32>
    %c15 = stablehlo.multiply %d14, %w : tensor<2048xf32>
    %d15 = stablehlo.add %c15, %x : tensor<2048xf32>
    %c16 = stablehlo.multiply %d15, %w : tensor<2048xf32>
    %d16 = stablehlo.add %c16, %x : tensor<2048xf32>
    %c17 = stablehlo.multiply %d16, %w : tensor<2048xf32>
    %d17 = stablehlo.add %c17, %x : tensor<2048xf32>
    %c18 = stablehlo.multiply %d17, %w : tensor<2048xf32>
    %d18 = stablehlo.add %c18, %x : tensor<2048xf32>
    %c19 = stablehlo.multiply %d18, %w : tensor<2048xf32>
    %d19 = stablehlo.add %c19, %x : tensor<2048xf32>
    %c20 = stablehlo.multiply %d19, %w : tensor<2048xf32>
    %d20 = stablehlo.add %c20, %x : tensor<2048xf32>
    %c21 = stablehlo.multiply %d20, %w : tensor<2048xf32>
    %d21 = stablehlo.add %c21, %x : tensor<2048xf32>
    %c22 = stablehlo.multiply %d21, %w : tensor<2048xf32>
    %d22 = stablehlo.add %c22, %x : tensor<2048xf32>
    %c23 = stablehlo.multiply %d22, %w : tensor<2048xf32>
    %d23 = stablehlo.add %c23, %x : tensor<2048xf32>
    %c24 = stablehlo.multiply %d23, %w : tensor<2048xf32>
    %d24 = stablehlo.add %c24, %x : tensor<2048xf32>
    %c25 = stablehlo.multiply %d24, %w : tensor<2048xf32>
    %d25 = stablehlo.add %c25, %x : tensor<2048xf32>
    %c26 = stablehlo.multiply %d25, %w : tensor<2048xf32>
    %d26 = stablehlo.add %c26, %x : tensor<2048xf32>
    %c27 = stablehlo.multiply %d26, %w : tensor<2048xf32>
    %d27 = stablehlo.add %c27, %x : tensor<2048xf32>
    %c28 = stablehlo.multiply %d27, %w : tensor<2048xf32>
    %d28 = stablehlo.add %c28, %x : tensor<2048xf32>
    %c29 = stablehlo.multiply %d28, %w : tensor<2048xf32>
    %d29 = stablehlo.add %c29, %x : tensor<2048xf32>
    %c30 = stablehlo.multiply %d29, %w : tensor<2048xf32>
    %d30 = stablehlo.add %c30, %x : tensor<2048xf32>
    %c31 = stablehlo.multiply %d30, %w : tensor<2048xf32>
    %d31 = stablehlo.add %c31, %x : tensor<2048xf32>
    %c32 = stablehlo.multiply %d31, %w : tensor<2048xf32>
    %d32 = stablehlo.add %c32, %x : tensor<2048xf32>
    %c33 = stablehlo.multiply %d32, %w : tensor<2048xf32>
    %d33 = stablehlo.add %c33, %x : tensor<2048xf32>
    %c34 = stablehlo.multiply %d33, %w : tensor<2048xf32>
    %d34 = stablehlo.add %c34, %x : tensor<2048xf32>
    %c35 = stablehlo.multiply %d34, %w : tensor<2048xf32>
    %d35 = stablehlo.add %c35, %x : tensor<2048xf32>
    %c36 = stablehlo.multiply %d35, %w : tensor<2048xf32>
    %d36 = stablehlo.add %c36, %x : tensor<2048xf32>
    %c37 = stablehlo.multiply %d36, %w : tensor<2048xf32>
    %d37 = stablehlo.add %c37, %x : tensor<2048xf32>
    %c38 = stablehlo.multiply %d37, %w : tensor<2048xf32>
    %d38 = stablehlo.add %c38, %x : tensor<2048xf32>
    %c39 = stablehlo.multiply %d38, %w : tensor<2048xf32>
    %d39 = stablehlo.add %c39, %x : tensor<2048xf32>
    %c40 = stablehlo.multiply %d39, %w : tensor<2048xf32>
    %d40 = stablehlo.add %c40, %x : tensor<2048xf32>
    %c41 = stablehlo.multiply %d40, %w : tensor<2048xf32>
    %d41 = stablehlo.add %c41, %x : tensor<2048xf32>
    %c42 = stablehlo.multiply %d41, %w : tensor<2048xf32>
    %d42 = stablehlo.add %c42, %x : tensor<2048xf32>
    %c43 = stablehlo.multiply %d42, %w : tensor<2048xf32>
    %d43 = stablehlo.add %c43, %x : tensor<2048xf32>
    %c44 = stablehlo.multiply %d43, %w : tensor<2048xf32>
    %d44 = stablehlo.add %c44, %x : tensor<2048xf32>
    %c45 = stablehlo.multiply %d44, %w : tensor<2048xf32>
    %d45 = stablehlo.add %c45, %x : tensor<2048xf32>
    %c46 = stablehlo.multiply %d45, %w : tensor<2048xf32>
    %d46 = stablehlo.add %c46, %x : tensor<2048xf32>
    %c47 = stablehlo.multiply %d46, %w : tensor<2048xf32>
    %d47 = stablehlo.add %c47, %x : tensor<2048xf32>
    %c48 = stablehlo.multiply %d47, %w : tensor<2048xf32>
    %d48 = stablehlo.add %c48, %x : tensor<2048xf32>
    %c49 = stablehlo.multiply %d48, %w : tensor<2048xf32>
    %d49 = stablehlo.add %c49, %x : tensor<2048xf32>
    %c50 = stablehlo.multiply %d49, %w : tensor<2048xf32>
    %d50 = stablehlo.add %c50, %x : tensor<2048xf32>
    %c51 = stablehlo.multiply %d50, %w : tensor<2048xf32>
    %d51 = stablehlo.add %c51, %x : tensor<2048xf32>
    %c52 = stablehlo.multiply %d51, %w : tensor<2048xf32>
    %d52 = stablehlo.add %c52, %x : tensor<2048xf32>
    %c53 = stablehlo.multiply %d52, %w : tensor<2048xf32>
    %d53 = stablehlo.add %c53, %x : tensor<2048xf32>
    %c54 = stablehlo.multiply %d53, %w : tensor<2048xf32>
    %d54 = stablehlo.add %c54, %x : tensor<2048xf32>
    %c55 = stablehlo.multiply %d54, %w : tensor<2048xf32>
    %d55 = stablehlo.add %c55, %x : tensor<2048xf32>
    %c56 = stablehlo.multiply %d55, %w : tensor<2048xf32>
    %d56 = stablehlo.add %c56, %x : tensor<2048xf32>
    %c57 = stablehlo.multiply %d56, %w : tensor<2048xf32>
    %d57 = stablehlo.add %c57, %x : tensor<2048xf32>
    %c58 = stablehlo.multiply %d57, %w : tensor<2048xf32>
    %d58 = stablehlo.add %c58, %x : tensor<2048xf32>
    %c59 = stablehlo.multiply %d58, %w : tensor<2048xf32>
    %d59 = stablehlo.add %c59, %x : tensor<2048xf32>
    %7 = stablehlo.constant dense<7.0> : tensor<2048xf32>
    %q = stablehlo.divide %d59, %7 : tensor<2048xf32>
    %a = stablehlo.broadcast_in_dim %q, dims = [1] : (tensor<2048xf32>) -> tensor<2000x2048xf32>
    %b = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<2000xf32>) -> tensor<2000x2048xf32>
    %m = stablehlo.multiply %a, %b : tensor<2000x2048xf32>
    %m0 = stablehlo.slice %m [0:2000, 0:2046] : (tensor<2000x2048xf32>) -> tensor<2000x2046xf32>
    %m1 = stablehlo.slice %m [0:2000, 2:2048] : (tensor<2000x2048xf32>) -> tensor<2000x2046xf32>
    %r = stablehlo.add %m0, %m1 : tensor<2000x2046xf32>
    return %r : tensor<2000x2046xf32>
  }
}
