// Over several devices: along the dimension that nothing is sharded along, 8 columns; the small
// input that is sharded there comes whole. What the loop has inside says nothing about shardings.
// RUN: %weir opt %s --pass=split,lower --tensor-size-threshold 100 --tensor-split-size 64 | FileCheck %s

// CHECK-LABEL: "main"
// CHECK:      %[[ROW:[a-z0-9]+]] = "stablehlo.reshape"
// CHECK:      %[[WHOLE:[a-z0-9]+]] = "sdy.sharding_constraint"(%[[ROW]]) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<1x8xf32>) -> tensor<1x8xf32>
// CHECK:      "stablehlo.while"
// CHECK:      "stablehlo.dynamic_slice"(%[[WHOLE]], %{{.*}}, %{{.*}}) <{slice_sizes = array<i64: 1, 2>}>
// CHECK:      "stablehlo.broadcast_in_dim"(%{{.*}}) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x2xf32>
// CHECK-NOT:  per_value
// CHECK:      "func.return"
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %row = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x", "y"}]>]>} : (tensor<8xf32>) -> tensor<1x8xf32>
    %a = stablehlo.broadcast_in_dim %x, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : (tensor<8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.broadcast_in_dim %row, dims = [0, 1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : (tensor<1x8xf32>) -> tensor<8x8xf32>
    %k = stablehlo.multiply %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}, {}]>]>} : tensor<8x8xf32>
    %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %s : tensor<8xf32>
  }
}
