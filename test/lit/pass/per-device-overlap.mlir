// Rows along two axes, weights along one of them: devices along it have other rows, so no part of
// the weights can be multiplied with them and added up. They are gathered; their gradient, the sum of
// all devices' parts, is cut up as they are.
// RUN: %weir opt %s --pass=per-device | FileCheck %s

// CHECK:     "sdy.manual_computation"
// CHECK:     ^bb0([[W:%[a-z0-9]+]]: tensor<3x4xf32>, [[X:%[a-z0-9]+]]: tensor<2x6xf32>):
// CHECK:     [[ALL:%[0-9]+]] = "stablehlo.all_gather"([[W]]) <{replica_groups = dense<{{\[\[}}0, 1], [2, 3]]>
// CHECK:     [[Y:%[0-9]+]] = "stablehlo.dot_general"([[X]], [[ALL]])
// CHECK:     [[G:%[0-9]+]] = "stablehlo.dot_general"([[X]], [[Y]])
// CHECK-SAME: -> tensor<6x4xf32>
// CHECK:     [[S:%[0-9]+]] = "stablehlo.all_reduce"([[G]]) <{replica_groups = dense<{{\[\[}}0, 1, 2, 3]]>
// CHECK:     "stablehlo.dynamic_slice"([[S]]
// CHECK-SAME: -> tensor<3x4xf32>
// CHECK:     "sdy.return"
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%w: tensor<6x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}, %x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}) -> (tensor<8x4xf32>, tensor<6x4xf32>) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {}]>]>} : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
    return %y, %g : tensor<8x4xf32>, tensor<6x4xf32>
  }
}
