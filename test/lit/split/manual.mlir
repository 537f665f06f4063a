// The body of a manual computation over the whole mesh is one device's program: split like any,
// its collective outside of the loop. The estimate counts a device's part of the arguments.
// RUN: %weir opt %s --pass=split --tensor-size-threshold 100 --tensor-split-size 64 | FileCheck %s
// RUN: %weir plan %s --memory-limit 1GB | FileCheck %s --check-prefix=PLAN

// CHECK:      "sdy.manual_computation"(%{{.*}})
// CHECK:      "weir.loop"
// CHECK-NOT:  all_reduce
// CHECK:      "weir.yield"
// CHECK:      "stablehlo.all_reduce"
// CHECK:      "sdy.return"
// PLAN: arguments 32 B + results 32 B
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%x: tensor<32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> tensor<8xf32> {
    %m = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x", "y"} (%z: tensor<8xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %a = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
      %k = stablehlo.multiply %a, %a : tensor<8x8xf32>
      %t = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      %r = "stablehlo.all_reduce"(%t) <{replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<8xf32>) -> tensor<8xf32>
      sdy.return %r : tensor<8xf32>
    } : (tensor<32xf32>) -> tensor<8xf32>
    return %m : tensor<8xf32>
  }
}
