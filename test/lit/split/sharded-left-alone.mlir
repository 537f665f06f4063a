// Over several devices: nothing where both dimensions are sharded, nor in a computation that is
// by hand along one axis of two.
// RUN: %weir opt %s --pass=split --tensor-size-threshold 100 --tensor-split-size 64 | FileCheck %s

// CHECK-NOT: weir.loop
// CHECK: func.return
// CHECK-NOT: weir.loop
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<8xf32>, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8xf32>, tensor<16xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %a = stablehlo.broadcast_in_dim %x, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8xf32>) -> tensor<8x8xf32>
    %k = stablehlo.multiply %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x8xf32>
    %s = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    %m = sdy.manual_computation(%y) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%z: tensor<8x8xf32>) {
      %one = stablehlo.constant dense<0.0> : tensor<f32>
      %q = stablehlo.multiply %z, %z : tensor<8x8xf32>
      %t = stablehlo.reduce(%q init: %one) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      sdy.return %t : tensor<8xf32>
    } : (tensor<16x8xf32>) -> tensor<16xf32>
    return %s, %m : tensor<8xf32>, tensor<16xf32>
  }
}
