// RUN: %weir opt %s --machine x86-64-v3 --pass=materialise | FileCheck %s
// RUN: %weir opt %s --machine x86-64-v3 --pass=materialise --platform cuda | FileCheck %s --check-prefix=LEFT
// LEFT-NOT: weir.keep

// No smaller ones are tried where there are none; once for each order.
// RUN: not %weir opt %s --machine x86-64-v3 --memory-limit 45kB --skip split --debug 3 2>&1 | FileCheck %s --check-prefix=TRIALS
// TRIALS-COUNT-2: 2 values written that would be made again
// TRIALS-NOT: values written that would be made again

module {
  // What is dear and read at four other places, and in a while at each trip.
  // CHECK: sym_name = "main"
  // CHECK: %[[S:[0-9]+]] = "stablehlo.tanh"
  // CHECK-NEXT: %[[K:[0-9]+]] = "func.call"(%[[S]]) <{callee = @weir.keep.66x64xf32}> {mhlo.frontend_attributes = {inlineable = "false"}}
  // CHECK-NEXT: "stablehlo.slice"(%[[K]])
  // CHECK-NEXT: "stablehlo.slice"(%[[K]])
  // CHECK-NEXT: "stablehlo.slice"(%[[K]])
  // CHECK-NEXT: "stablehlo.slice"(%[[K]])
  // CHECK: "stablehlo.while"
  // CHECK: %[[E:[0-9]+]] = "stablehlo.exponential"
  // CHECK-NEXT: %[[L:[0-9]+]] = "func.call"(%[[E]]) <{callee = @weir.keep.64x64xf32}>
  // CHECK-NEXT: "stablehlo.reverse"(%[[L]])
  // CHECK: "stablehlo.transpose"(%[[L]]
  func.func public @main(%x: tensor<66x64xf32>) -> tensor<64x64xf32> {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %a0 = stablehlo.log %x : tensor<66x64xf32>
    %a1 = stablehlo.power %a0, %x : tensor<66x64xf32>
    %a = stablehlo.sine %a1 : tensor<66x64xf32>
    %b = stablehlo.tanh %a : tensor<66x64xf32>
    %s0 = stablehlo.slice %b [0:63, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %s1 = stablehlo.slice %b [1:64, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %s2 = stablehlo.slice %b [2:65, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %s3 = stablehlo.slice %b [3:66, 0:64] : (tensor<66x64xf32>) -> tensor<63x64xf32>
    %t0 = stablehlo.add %s0, %s1 : tensor<63x64xf32>
    %t1 = stablehlo.add %s2, %s3 : tensor<63x64xf32>
    %t2 = stablehlo.multiply %t0, %t1 : tensor<63x64xf32>
    %f = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.pad %t2, %f, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<63x64xf32>, tensor<f32>) -> tensor<64x64xf32>
    %r:2 = stablehlo.while(%i = %z, %h = %y) : tensor<i32>, tensor<64x64xf32>
    cond {
      %n = stablehlo.constant dense<9> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %g0 = stablehlo.log %h : tensor<64x64xf32>
      %g1 = stablehlo.power %g0, %h : tensor<64x64xf32>
      %g = stablehlo.sine %g1 : tensor<64x64xf32>
      %e = stablehlo.exponential %g : tensor<64x64xf32>
      %p = stablehlo.reverse %e, dims = [0] : tensor<64x64xf32>
      %q = stablehlo.reverse %e, dims = [1] : tensor<64x64xf32>
      %u = stablehlo.reverse %e, dims = [0, 1] : tensor<64x64xf32>
      %v = stablehlo.transpose %e, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %w0 = stablehlo.add %p, %q : tensor<64x64xf32>
      %w1 = stablehlo.add %u, %v : tensor<64x64xf32>
      %w = stablehlo.divide %w0, %w1 : tensor<64x64xf32>
      stablehlo.return %j, %w : tensor<i32>, tensor<64x64xf32>
    }
    return %r#1 : tensor<64x64xf32>
  }
}
