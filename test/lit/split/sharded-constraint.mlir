// Over several devices: a constraint that shards another dimension than the loop's goes into the
// loop, where XLA would not know otherwise that its devices share the rows.
// RUN: %weir opt %s --pass=split,lower --tensor-size-threshold 100 --tensor-split-size 64 | FileCheck %s

// CHECK:      "stablehlo.while"
// CHECK:      "stablehlo.multiply"({{.*}} -> tensor<8x2xf32>
// CHECK-NEXT: "sdy.sharding_constraint"(%{{.*}}) <{sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}> : (tensor<8x2xf32>) -> tensor<8x2xf32>
// CHECK:      "func.return"
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %a = stablehlo.broadcast_in_dim %x, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8xf32>) -> tensor<8x8xf32>
    %b = stablehlo.broadcast_in_dim %x, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8xf32>) -> tensor<8x8xf32>
    %k = stablehlo.multiply %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    %c = sdy.sharding_constraint %k <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
    return %s : tensor<f32>
  }
}
