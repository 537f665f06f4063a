// What each device computes of a program whose rows are sharded: counters from the device's first
// row on, its part of sums over rows and then all devices'.
// RUN: %weir opt %s --pass=per-device | FileCheck %s

// CHECK:      "sdy.manual_computation"(%arg0, %arg1)
// CHECK-SAME: in_shardings = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>, <@mesh, [{}, {}]>]>
// CHECK-SAME: manual_axes = #sdy<manual_axes{"d"}>
// CHECK-SAME: out_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>, <@mesh, [{"d"}, {}]>]>
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["d"=2]>
  func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %w: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) {
    %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<8x4xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
    %i = stablehlo.iota dim = 0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : tensor<8x3xf32>
    %s = stablehlo.add %h, %i {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : tensor<8x3xf32>
    %g = stablehlo.dot_general %x, %s, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
    return %g, %s : tensor<4x3xf32>, tensor<8x3xf32>
  }
}
