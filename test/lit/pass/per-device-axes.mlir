// Several lists of axes: the inner axis of two, both in the other order, and a sum over each. Groups
// are of the devices that differ along the axes alone, in the order of their numbers.
// RUN: %weir opt %s --pass=per-device | FileCheck %s

// CHECK:      "sdy.manual_computation"
// CHECK-SAME: in_shardings = #sdy.sharding_per_value<[<@mesh, [{"b", "a"}, {}]>, <@mesh, [{"a"}, {"b"}]>]>
// CHECK-SAME: manual_axes = #sdy<manual_axes{"a", "b"}>
// CHECK-SAME: out_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"b"}]>, <@mesh, [{"b", "a"}, {}]>]>
// CHECK:      ({{.*}}: tensor<2x4xf32>, {{.*}}: tensor<4x2xf32>)
// CHECK-DAG:  replica_groups = dense<{{\[\[}}0, 3, 1, 4, 2, 5]]> : tensor<1x6xi64>
// CHECK-DAG:  replica_groups = dense<{{\[\[}}0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>
// CHECK:      "sdy.return"
module attributes {mhlo.num_partitions = 6 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=3]>
  func.func public @main(%x: tensor<12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "a"}, {}]>}, %y: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>}) -> (tensor<4xf32>, tensor<6xf32>, tensor<12x4xf32>) {
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %s = stablehlo.reduce(%x init: %none) applies stablehlo.add across dimensions = [0] : (tensor<12x4xf32>, tensor<f32>) -> tensor<4xf32>
    %t = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
    %i = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", "a"}, {}]>]>} : tensor<12x4xf32>
    %z = stablehlo.multiply %x, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b", "a"}, {}]>]>} : tensor<12x4xf32>
    return %s, %t, %z : tensor<4xf32>, tensor<6xf32>, tensor<12x4xf32>
  }
}
