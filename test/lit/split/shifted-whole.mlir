// What is computed is read at eleven shifts, more than a loop makes of one value: it is made before the loop, which reads rows of
// it. Of what is made of the shifts nothing is there whole.
// RUN: %weir opt %s --tensor-size-threshold 700 --stop-after split | FileCheck %s

// CHECK: %[[T:[0-9]+]] = "stablehlo.tanh"(%arg0) : (tensor<24x26x3xf32>) -> tensor<24x26x3xf32>
// CHECK-NOT: tensor<14x16x1
// CHECK: "weir.loop"({{.*}}%[[T]]
// CHECK-NOT: "weir.loop"
// CHECK: "func.return"
func.func public @main(%x: tensor<24x26x3xf32>, %a: tensor<14x16x3xf32>) -> tensor<f32> {
  %t = stablehlo.tanh %x : tensor<24x26x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = stablehlo.slice %t [0:14, 0:16, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m0 = stablehlo.multiply %a, %s0 : tensor<14x16x3xf32>
  %r0 = stablehlo.reduce(%m0 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p0 = stablehlo.reshape %r0 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s1 = stablehlo.slice %t [1:15, 1:17, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m1 = stablehlo.multiply %a, %s1 : tensor<14x16x3xf32>
  %r1 = stablehlo.reduce(%m1 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p1 = stablehlo.reshape %r1 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s2 = stablehlo.slice %t [2:16, 2:18, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m2 = stablehlo.multiply %a, %s2 : tensor<14x16x3xf32>
  %r2 = stablehlo.reduce(%m2 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p2 = stablehlo.reshape %r2 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s3 = stablehlo.slice %t [3:17, 3:19, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m3 = stablehlo.multiply %a, %s3 : tensor<14x16x3xf32>
  %r3 = stablehlo.reduce(%m3 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p3 = stablehlo.reshape %r3 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s4 = stablehlo.slice %t [4:18, 4:20, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m4 = stablehlo.multiply %a, %s4 : tensor<14x16x3xf32>
  %r4 = stablehlo.reduce(%m4 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p4 = stablehlo.reshape %r4 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s5 = stablehlo.slice %t [5:19, 5:21, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m5 = stablehlo.multiply %a, %s5 : tensor<14x16x3xf32>
  %r5 = stablehlo.reduce(%m5 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p5 = stablehlo.reshape %r5 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s6 = stablehlo.slice %t [6:20, 6:22, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m6 = stablehlo.multiply %a, %s6 : tensor<14x16x3xf32>
  %r6 = stablehlo.reduce(%m6 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p6 = stablehlo.reshape %r6 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s7 = stablehlo.slice %t [7:21, 7:23, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m7 = stablehlo.multiply %a, %s7 : tensor<14x16x3xf32>
  %r7 = stablehlo.reduce(%m7 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p7 = stablehlo.reshape %r7 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s8 = stablehlo.slice %t [8:22, 8:24, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m8 = stablehlo.multiply %a, %s8 : tensor<14x16x3xf32>
  %r8 = stablehlo.reduce(%m8 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p8 = stablehlo.reshape %r8 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s9 = stablehlo.slice %t [9:23, 9:25, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m9 = stablehlo.multiply %a, %s9 : tensor<14x16x3xf32>
  %r9 = stablehlo.reduce(%m9 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p9 = stablehlo.reshape %r9 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %s10 = stablehlo.slice %t [10:24, 10:26, 0:3] : (tensor<24x26x3xf32>) -> tensor<14x16x3xf32>
  %m10 = stablehlo.multiply %a, %s10 : tensor<14x16x3xf32>
  %r10 = stablehlo.reduce(%m10 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<14x16x3xf32>, tensor<f32>) -> tensor<14x16xf32>
  %p10 = stablehlo.reshape %r10 : (tensor<14x16xf32>) -> tensor<14x16x1xf32>
  %c = stablehlo.concatenate %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, dim = 2 : (tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>, tensor<14x16x1xf32>) -> tensor<14x16x11xf32>
  %e = stablehlo.exponential %c : tensor<14x16x11xf32>
  %y = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<14x16x11xf32>, tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
