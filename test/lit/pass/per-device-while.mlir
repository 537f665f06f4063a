// Carries are divided as the while says. What begins with zeros and is only added to is each
// device's part of the sum, until the while has ended; what the body looks at is summed in each
// trip.
// RUN: %weir opt %s --pass=per-device | FileCheck %s

// CHECK:     "sdy.manual_computation"
// CHECK:     "stablehlo.while"({{.*}}
// CHECK:     ^bb0({{.*}}: tensor<i32>, {{.*}}: tensor<4x4xf32>, [[G:%[a-z0-9]+]]: tensor<4x4xf32>, {{.*}}: tensor<4xf32>):
// CHECK:     "stablehlo.compare"
// CHECK:     [[DOT:%[0-9]+]] = "stablehlo.dot_general"
// CHECK-NOT: all_reduce
// CHECK:     "stablehlo.add"(%{{.*}}, [[DOT]])
// CHECK:     "stablehlo.all_reduce"(%{{[0-9]+}}){{.*}}replica_groups = dense<{{\[\[}}0, 1]]>
// CHECK:     -> tensor<4xf32>
// CHECK:     "stablehlo.return"
// CHECK:     "stablehlo.all_reduce"
// CHECK:     -> tensor<4x4xf32>
// CHECK:     "sdy.return"
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["d"=2]>
  func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> (tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %g0 = stablehlo.constant dense<0.0> : tensor<4x4xf32>
    %s0 = stablehlo.constant dense<0.0> : tensor<4xf32>
    %r:4 = "stablehlo.while"(%zero, %x, %g0, %s0) ({
    ^bb0(%i: tensor<i32>, %h: tensor<8x4xf32>, %g: tensor<4x4xf32>, %s: tensor<4xf32>):
      %n = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%i: tensor<i32>, %h: tensor<8x4xf32>, %g: tensor<4x4xf32>, %s: tensor<4xf32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.dot_general %h, %h, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %k = stablehlo.add %g, %d : tensor<4x4xf32>
      %m = stablehlo.reduce(%h init: %none) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
      %b = stablehlo.broadcast_in_dim %s, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<4xf32>) -> tensor<8x4xf32>
      %e = stablehlo.add %h, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : tensor<8x4xf32>
      stablehlo.return %j, %e, %k, %m : tensor<i32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>
    }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"d"}, {}]>, <@mesh, [{}, {}]>, <@mesh, [{}]>]>} : (tensor<i32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>)
    return %r#1, %r#2, %r#3 : tensor<8x4xf32>, tensor<4x4xf32>, tensor<4xf32>
  }
}
