// A while whose carries keep the factor in every trip runs on slices: the rows of %x and %y, narrowed inside.
// RUN: %weir opt %s --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK: "weir.loop"
// CHECK: %[[X:.*]] = "stablehlo.broadcast_in_dim"{{.*}} -> tensor<[[N:[0-9]+]]x40xf32>
// CHECK: "stablehlo.while"(
// CHECK: ^bb0({{.*}}: tensor<i32>{{.*}}, {{.*}}: tensor<[[N]]x40xf32>{{.*}})
// CHECK-DAG: "stablehlo.multiply"{{.*}} -> tensor<[[N]]x40xf32>
// CHECK-DAG: "stablehlo.add"({{.*}}) : (tensor<i32>, tensor<i32>) -> tensor<i32>
// CHECK: -> (tensor<i32>, tensor<[[N]]x40xf32>)
// CHECK: "weir.yield"
// CHECK-NOT: -> tensor<50x40xf32>
func.func public @main(%a: tensor<50xf32>) -> tensor<50xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<50xf32>) -> tensor<50x40xf32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<50x40xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %more = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %yy = stablehlo.multiply %y, %y : tensor<50x40xf32>
    stablehlo.return %next, %yy : tensor<i32>, tensor<50x40xf32>
  }
  %s = stablehlo.reduce(%r#1 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  return %s : tensor<50xf32>
}
