// The body of a map, an op at a time, on whole tensors.
// RUN: %weir opt %s --pass=map | FileCheck %s

module {
  // CHECK: sym_name = "elementwise"
  // CHECK: %[[C:.*]] = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  // CHECK: %[[W:.*]] = "stablehlo.broadcast_in_dim"(%[[C]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
  // CHECK: %[[M:.*]] = "stablehlo.multiply"(%arg0, %[[W]]) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[P:.*]] = "stablehlo.compare"(%[[M]], %{{.*}}) {{.*}} -> tensor<4x6xi1>
  // CHECK: %[[I:.*]] = "stablehlo.convert"(%[[M]]) : (tensor<4x6xf32>) -> tensor<4x6xi32>
  // CHECK: %[[S:.*]] = "stablehlo.select"(%[[P]], %arg1, %[[I]])
  // CHECK: "func.return"(%[[S]])
  func.func @elementwise(%a: tensor<4x6xf32>, %b: tensor<4x6xi32>, %outer: tensor<f32>) -> tensor<4x6xi32> {
    %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<i32>):
      %c = stablehlo.constant dense<2.0> : tensor<f32>
      %m = stablehlo.multiply %p, %c : tensor<f32>
      %l = stablehlo.compare LT, %m, %outer, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %n = stablehlo.convert %m : (tensor<f32>) -> tensor<i32>
      %s = stablehlo.select %l, %q, %n : tensor<i1>, tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> tensor<4x6xi32>
    return %0 : tensor<4x6xi32>
  }

  // What the body hands over may be an argument, or a constant.
  // CHECK: sym_name = "short"
  // CHECK: %[[N:.*]] = "stablehlo.broadcast_in_dim"
  // CHECK: "func.return"(%arg0, %[[N]], %arg1)
  func.func @short(%a: tensor<3xf32>, %s: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>) {
    %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>):
      stablehlo.return %p : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>):
      %c = stablehlo.constant dense<2.0> : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    %2 = "stablehlo.map"(%s) <{dimensions = array<i64>}> ({
    ^bb0(%p: tensor<f32>):
      %i = "stablehlo.map"(%p) <{dimensions = array<i64>}> ({
      ^bb0(%q: tensor<f32>):
        stablehlo.return %q : tensor<f32>
      }) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %i : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<f32>
  }

  // A body that makes more than scalars stays.
  // CHECK: sym_name = "left_alone"
  // CHECK: "stablehlo.map"
  // CHECK: "stablehlo.map"
  func.func @left_alone(%a: tensor<3xf32>, %d: tensor<?xf32>) -> (tensor<3xf32>, tensor<?xf32>) {
    %0 = "stablehlo.map"(%a) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>):
      %r = stablehlo.reshape %p : (tensor<f32>) -> tensor<1xf32>
      %t = stablehlo.tanh %r : tensor<1xf32>
      %u = stablehlo.reshape %t : (tensor<1xf32>) -> tensor<f32>
      stablehlo.return %u : tensor<f32>
    }) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "stablehlo.map"(%d) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>):
      stablehlo.return %p : tensor<f32>
    }) : (tensor<?xf32>) -> tensor<?xf32>
    return %0, %1 : tensor<3xf32>, tensor<?xf32>
  }
}
