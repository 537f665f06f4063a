// A step of a while in which each row sees those beside it. The loop over slices writes over the state: what a trip reads
// are the rows that it carries as they were (those behind, and those that the last slice has in common with the one before),
// and the state's own from the slice on. All is read before the update.
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 200 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 200 --tile on --machine x86-64-v3 | FileCheck %s --check-prefix=KERNEL

// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<61x8xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %[[X:[a-z0-9]+]]: tensor<61x8xf32>):
// CHECK:      %[[NONE:[0-9]+]] = "stablehlo.broadcast_in_dim"({{.*}}) -> tensor<[[OLD:[0-9]+]]x8xf32>
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %[[X]], %[[NONE]])
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<61x8xf32>, %{{.*}}: tensor<[[OLD]]x8xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[Y:[a-z0-9]+]]: tensor<61x8xf32>, %[[BEHIND:[a-z0-9]+]]: tensor<[[OLD]]x8xf32>):
// CHECK:      "stablehlo.dynamic_slice"(%[[Y]],
// CHECK-NOT:  (%[[Y]],
// CHECK:      %[[ALL:[0-9]+]] = "stablehlo.concatenate"(%[[BEHIND]],
// CHECK-NEXT: %[[KEPT:[0-9]+]] = "func.call"(%[[ALL]])
// CHECK-SAME: inlineable = "false"
// CHECK:      %[[NEXT:[0-9]+]] = "stablehlo.slice"(%[[KEPT]])
// CHECK-SAME: -> tensor<[[OLD]]x8xf32>
// CHECK:      %[[NEW:[0-9]+]] = "stablehlo.dynamic_update_slice"(%[[Y]],
// CHECK:      "stablehlo.return"(%{{[0-9]+}}, %[[NEW]], %[[NEXT]])

// A kernel writes to a buffer of its own.
// KERNEL-NOT: tensor<i64>, tensor<61x8xf32>, tensor

func.func public @main(%x: tensor<61x8xf32>) -> tensor<61x8xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = "stablehlo.while"(%i, %x) ({
  ^bb0(%n: tensor<i32>, %u: tensor<61x8xf32>):
    %most = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %n, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%n: tensor<i32>, %u: tensor<61x8xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %first = stablehlo.slice %u [0:1, 0:8] : (tensor<61x8xf32>) -> tensor<1x8xf32>
    %others = stablehlo.slice %u [1:61, 0:8] : (tensor<61x8xf32>) -> tensor<60x8xf32>
    %below = stablehlo.concatenate %others, %first, dim = 0 : (tensor<60x8xf32>, tensor<1x8xf32>) -> tensor<61x8xf32>
    %last = stablehlo.slice %u [60:61, 0:8] : (tensor<61x8xf32>) -> tensor<1x8xf32>
    %but = stablehlo.slice %u [0:60, 0:8] : (tensor<61x8xf32>) -> tensor<60x8xf32>
    %above = stablehlo.concatenate %last, %but, dim = 0 : (tensor<1x8xf32>, tensor<60x8xf32>) -> tensor<61x8xf32>
    %s = stablehlo.add %below, %above : tensor<61x8xf32>
    %t = stablehlo.tanh %s : tensor<61x8xf32>
    %v = stablehlo.subtract %u, %t : tensor<61x8xf32>
    stablehlo.return %next, %v : tensor<i32>, tensor<61x8xf32>
  }) : (tensor<i32>, tensor<61x8xf32>) -> (tensor<i32>, tensor<61x8xf32>)
  return %r#1 : tensor<61x8xf32>
}
