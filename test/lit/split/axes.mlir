// A step that reads its state by columns and what it makes of it by rows: two legs, each a while of one trip in which a loop writes over what it reads.
// RUN: %weir opt %s --memory-limit 1030000 | FileCheck %s
// RUN: %weir opt %s --memory-limit 1300000 --tile on --machine x86-64-v3 | FileCheck %s --check-prefix=ROOM

// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<300x200xf32>):
// CHECK:      ^bb0(%{{.*}}: tensor<i32>, %[[X:[a-z0-9]+]]: tensor<300x200xf32>):
// CHECK:      %[[FIRST:[0-9]+]]:2 = "stablehlo.while"(%{{[0-9]+}}, %[[X]])
// CHECK:      dense<1> : tensor<i64>
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[OF_X:[a-z0-9]+]]: tensor<300x200xf32>):
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %[[OF_X]])
// CHECK:      "stablehlo.dynamic_slice"({{.*}}) -> tensor<300x{{[0-9]+}}xf32>
// CHECK:      %[[LAST:[0-9]+]]:2 = "stablehlo.while"(%{{[0-9]+}}, %[[FIRST]]#1)
// CHECK:      "stablehlo.while"
// CHECK:      "stablehlo.dynamic_slice"({{.*}}) -> tensor<{{[0-9]+}}x200xf32>
// CHECK-NOT:  stablehlo.while
// CHECK:      "stablehlo.return"(%{{[0-9]+}}, %[[LAST]]#1)

// ROOM-COUNT-1: stablehlo.while
// ROOM-NOT:     stablehlo.while

func.func public @main(%a: tensor<300x300xf32>, %b: tensor<200x200xf32>, %x: tensor<300x200xf32>) -> tensor<300x200xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = "stablehlo.while"(%i, %x) ({
  ^bb0(%n: tensor<i32>, %u: tensor<300x200xf32>):
    %most = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %n, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%n: tensor<i32>, %u: tensor<300x200xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %left = stablehlo.dot_general %a, %u, contracting_dims = [1] x [0] : (tensor<300x300xf32>, tensor<300x200xf32>) -> tensor<300x200xf32>
    %both = stablehlo.dot_general %left, %b, contracting_dims = [1] x [0] : (tensor<300x200xf32>, tensor<200x200xf32>) -> tensor<300x200xf32>
    %t = stablehlo.tanh %both : tensor<300x200xf32>
    stablehlo.return %next, %t : tensor<i32>, tensor<300x200xf32>
  }) : (tensor<i32>, tensor<300x200xf32>) -> (tensor<i32>, tensor<300x200xf32>)
  return %r#1 : tensor<300x200xf32>
}
