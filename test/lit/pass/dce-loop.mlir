// weir.loop: unused results go with the value yielded, a carry's initial value and its argument; unused inputs go.
// RUN: %weir opt %s --pass=dce | FileCheck %s

module {
  // Of six results #1 (a slice), #4 (a carry that #3 reads: stays) and #5 (a carry that feeds itself) have no use; input %c is read by #1 alone, %d by nobody.
  // CHECK: sym_name = "shrinks"
  // CHECK: %[[L:[0-9]+]]:4 = "weir.loop"(%arg0, %arg1, %arg4, %arg5)
  // CHECK-SAME: in_dims = array<i64: 0, -1>, in_units = array<i64: 1, 1>
  // CHECK-SAME: out_dims = array<i64: 0, 1, -1, -1>, out_units = array<i64: 1, 2, 1, 1>
  // CHECK: ^bb0(%{{[a-z0-9]+}}: tensor<i64>, %{{[a-z0-9]+}}: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<7xf32>, %[[P:[a-z0-9]+]]: tensor<f32>, %[[Q:[a-z0-9]+]]: tensor<f32>):
  // CHECK-NOT: stablehlo.cosine
  // CHECK-NOT: stablehlo.sine
  // CHECK: %[[P1:[0-9]+]] = "stablehlo.add"(%[[P]], %[[Q]])
  // CHECK: "weir.yield"(%{{[0-9]+}}, %{{[0-9]+}}, %[[P1]], %[[Q]])
  // CHECK: "func.return"(%[[L]]#0, %[[L]]#1, %[[L]]#2)
  func.func public @shrinks(%a: tensor<10xf32>, %b: tensor<7xf32>, %c: tensor<10xf32>, %d: tensor<7xf32>, %p0: tensor<f32>, %q0: tensor<f32>, %r0: tensor<f32>) -> (tensor<10xf32>, tensor<7x20xf32>, tensor<f32>) {
    %0:6 = "weir.loop"(%a, %b, %c, %d, %p0, %q0, %r0) <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1, 0, -1>, in_units = array<i64: 1, 1, 1, 1>, out_dims = array<i64: 0, 0, 1, -1, -1, -1>, out_units = array<i64: 1, 1, 2, 1, 1, 1>}> ({
    ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<4xf32>, %y: tensor<7xf32>, %z: tensor<4xf32>, %w: tensor<7xf32>, %p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>):
      %1 = stablehlo.tanh %x : tensor<4xf32>
      %2 = stablehlo.cosine %z : tensor<4xf32>
      %3 = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<7xf32>) -> tensor<7x8xf32>
      %4 = stablehlo.add %p, %q : tensor<f32>
      %5 = stablehlo.sine %r : tensor<f32>
      "weir.yield"(%1, %2, %3, %4, %q, %5) : (tensor<4xf32>, tensor<4xf32>, tensor<7x8xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> ()
    }) : (tensor<10xf32>, tensor<7xf32>, tensor<10xf32>, tensor<7xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<10xf32>, tensor<10xf32>, tensor<7x20xf32>, tensor<f32>, tensor<f32>, tensor<f32>)
    return %0#0, %0#2, %0#3 : tensor<10xf32>, tensor<7x20xf32>, tensor<f32>
  }

  // A loop in a loop: what only a dead result of the inner loop read goes from the outer one too.
  // CHECK: sym_name = "nested"
  // CHECK: "weir.loop"(%arg0)
  // CHECK: "weir.loop"(%{{[a-z0-9]+}})
  // CHECK-NOT: stablehlo.cosine
  // CHECK: "func.return"
  func.func public @nested(%a: tensor<10x6xf32>, %b: tensor<10x6xf32>) -> tensor<10x6xf32> {
    %0 = "weir.loop"(%a, %b) <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, 0>, in_units = array<i64: 1, 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>}> ({
    ^bb0(%s: tensor<i64>, %l: tensor<i64>, %x: tensor<4x6xf32>, %y: tensor<4x6xf32>):
      %1:2 = "weir.loop"(%x, %y) <{extent = 6 : i64, slice = 3 : i64, in_dims = array<i64: 1, 1>, in_units = array<i64: 1, 1>, out_dims = array<i64: 1, 1>, out_units = array<i64: 1, 1>}> ({
      ^bb0(%s2: tensor<i64>, %l2: tensor<i64>, %x2: tensor<4x3xf32>, %y2: tensor<4x3xf32>):
        %2 = stablehlo.cosine %y2 : tensor<4x3xf32>
        %3 = stablehlo.tanh %x2 : tensor<4x3xf32>
        "weir.yield"(%2, %3) : (tensor<4x3xf32>, tensor<4x3xf32>) -> ()
      }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
      "weir.yield"(%1#1) : (tensor<4x6xf32>) -> ()
    }) : (tensor<10x6xf32>, tensor<10x6xf32>) -> tensor<10x6xf32>
    return %0 : tensor<10x6xf32>
  }
}
