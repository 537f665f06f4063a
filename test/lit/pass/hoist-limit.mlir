// As much goes as holds the limit, what saves the most time a byte before all.
// RUN: %weir opt %s --tile off --machine x86-64-v3 --memory-limit 450kB | FileCheck %s --check-prefix=BOTH
// RUN: %weir opt %s --tile off --machine x86-64-v3 --memory-limit 380kB | FileCheck %s --check-prefix=ONE
// RUN: %weir opt %s --tile off --machine x86-64-v3 --memory-limit 320kB | FileCheck %s --check-prefix=NONE
// RUN: %weir opt %s --tile off --machine x86-64-v3 --memory-limit 450kB --skip hoist | FileCheck %s --check-prefix=NONE

// BOTH:      "stablehlo.sine"(%arg1)
// BOTH-NEXT: "stablehlo.exponential"(%arg2)
// BOTH-NEXT: "stablehlo.while"

// ONE:       "stablehlo.sine"(%arg1)
// ONE-NEXT:  "stablehlo.while"
// ONE:       "stablehlo.exponential"(%arg2)
// ONE:       "stablehlo.while"

// NONE:      "stablehlo.while"
// NONE:      "stablehlo.sine"(%arg1)
// NONE-NEXT: "stablehlo.exponential"(%arg2)
// NONE:      "stablehlo.while"
func.func public @main(%x: tensor<1000xf32>, %w: tensor<20000xf32>, %v: tensor<20000xf32>) -> (tensor<1000xf32>, tensor<20000xf32>) {
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %c = stablehlo.multiply %a, %b : tensor<1000x1000xf32>
  %e = stablehlo.logistic %c : tensor<1000x1000xf32>
  %y = stablehlo.dot_general %e, %x, contracting_dims = [1] x [0] : (tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %w) : tensor<i32>, tensor<20000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %t = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.sine %w : tensor<20000xf32>
    %h = stablehlo.exponential %v : tensor<20000xf32>
    %g = stablehlo.multiply %s, %f : tensor<20000xf32>
    %k = stablehlo.add %g, %h : tensor<20000xf32>
    stablehlo.return %j, %k : tensor<i32>, tensor<20000xf32>
  }
  return %y, %r#1 : tensor<1000xf32>, tensor<20000xf32>
}
