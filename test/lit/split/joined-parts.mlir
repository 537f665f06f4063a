// RUN: %weir opt %s --pass=split,dce --tensor-size-threshold 9000 | FileCheck %s
// Products over the same rows that become parts of one tensor: it is carried, and each is added in its place,
// one after the other. What is put beside them and is no sum is added behind the loop.

// CHECK: %[[ZERO:[0-9]+]] = "stablehlo.broadcast_in_dim"(%{{[0-9]+}}) {{.*}} -> tensor<3x32x32xf32>
// CHECK: %[[LOOP:[0-9]+]] = "weir.loop"(%arg0, %arg1, %[[ZERO]])
// CHECK: ^bb0({{.*}}, %{{arg[0-9]+}}: tensor<3x32x32xf32>):
// CHECK-COUNT-2: "stablehlo.dynamic_update_slice"
// CHECK: "weir.yield"(%{{[0-9]+}}) : (tensor<3x32x32xf32>)
// CHECK: "weir.loop"({{.*}}%[[LOOP]]
// CHECK: "stablehlo.pad"
// CHECK-NOT: "stablehlo.pad"
func.func public @main(%x: tensor<1000x32xf32>, %y: tensor<1000x32xf32>, %w: tensor<32x32xf32>) -> tensor<3x32x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.sine %x : tensor<1000x32xf32>
  %b = stablehlo.multiply %a, %y : tensor<1000x32xf32>
  %p = stablehlo.dot_general %a, %y, contracting_dims = [0] x [0] : (tensor<1000x32xf32>, tensor<1000x32xf32>) -> tensor<32x32xf32>
  %q = stablehlo.dot_general %b, %x, contracting_dims = [0] x [0] : (tensor<1000x32xf32>, tensor<1000x32xf32>) -> tensor<32x32xf32>
  %p1 = stablehlo.reshape %p : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
  %q1 = stablehlo.broadcast_in_dim %q, dims = [1, 2] : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
  %w1 = stablehlo.reshape %w : (tensor<32x32xf32>) -> tensor<1x32x32xf32>
  %p2 = stablehlo.pad %p1, %zero, low = [0, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<1x32x32xf32>, tensor<f32>) -> tensor<3x32x32xf32>
  %q2 = stablehlo.pad %q1, %zero, low = [2, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x32x32xf32>, tensor<f32>) -> tensor<3x32x32xf32>
  %w2 = stablehlo.pad %w1, %zero, low = [1, 0, 0], high = [1, 0, 0], interior = [0, 0, 0] : (tensor<1x32x32xf32>, tensor<f32>) -> tensor<3x32x32xf32>
  %s = stablehlo.add %p2, %q2 : tensor<3x32x32xf32>
  %t = stablehlo.add %s, %w2 : tensor<3x32x32xf32>
  return %t : tensor<3x32x32xf32>
}
