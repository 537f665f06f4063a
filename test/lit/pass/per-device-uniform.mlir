// A sum over rows that are all alike: no device's part of it varies, and its columns are sharded
// along one of the axes that it is added up along. What devices add up must be of the same columns:
// the parts are whole again in front of the all_reduce, and cut up behind it.
// RUN: %weir opt %s --pass=per-device | FileCheck %s

// CHECK:      [[G:%[0-9]+]] = "stablehlo.all_gather"({{.*}}dense<{{\[\[}}0, 2], [1, 3]]>
// CHECK:      [[S:%[0-9]+]] = "stablehlo.all_reduce"([[G]]) <{replica_groups = dense<{{\[\[}}0, 1, 2, 3]]>
// CHECK:      (tensor<6xf32>) -> tensor<6xf32>
// CHECK:      "stablehlo.dynamic_slice"([[S]]
// CHECK-SAME: -> tensor<3xf32>
// CHECK:      "sdy.return"
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<6xf32>) -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.broadcast_in_dim %x, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {}]>]>} : (tensor<6xf32>) -> tensor<4x6xf32>
    %v = stablehlo.sine %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {}]>]>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %s = stablehlo.reduce(%v init: %none) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    return %s : tensor<6xf32>
  }
}
