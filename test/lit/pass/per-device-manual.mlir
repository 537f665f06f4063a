// Manual computations take and give what their shardings say, and stand in the one computation that
// there is afterwards. Along axes that are not theirs their bodies are divided as all else. In a
// while; one in another; with a result along axes of both kinds, whose rounds follow each other.
// RUN: %weir opt %s --pass=per-device | FileCheck %s

// What stands in a computation over all axes does not matter.
// RUN: sed 's/stablehlo.negate %r/"other.negate"(%r)/' %s | %weir opt - --pass=per-device | FileCheck %s

// Left alone: foreign ops where XLA divides; transforms; effects outside of manual computations.
// RUN: sed 's/stablehlo.sine %in/"other.sine"(%in)/' %s | %weir opt - --pass=per-device | FileCheck %s --check-prefix=ALONE
// RUN: sed 's/stablehlo.tanh %w/"other.tanh"(%w)/' %s | %weir opt - --pass=per-device | FileCheck %s --check-prefix=ALONE
// ALONE-COUNT-4: "sdy.manual_computation"

// CHECK: [[AXES:manual_axes = #sdy<manual_axes{"a", "b"}>, ]]
// CHECK-SAME: out_shardings = #sdy.sharding_per_value<[<@mesh, [{"a", "b"}, {}]>]>
// CHECK: "stablehlo.sine"({{.*}}tensor<2x4xf32>
// CHECK: "stablehlo.while"
// CHECK-NOT: manual_computation
// CHECK: "stablehlo.all_reduce"({{.*}}dense<{{\[\[}}0, 2], [1, 3]]>
// CHECK: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: negate"({{.*}}tensor<4x2xf32>
// CHECK: "sdy.return"
// CHECK-NOT: manual_computation
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}]>}) {
    %i = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %s = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", "b"}, {}]>] out_shardings=[<@mesh, [{"a", "b"}, {}]>] manual_axes={"a"} (%in: tensor<4x4xf32>) {
      %y = stablehlo.sine %in {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %y : tensor<4x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %o:2 = stablehlo.while(%k = %i, %w = %s) : tensor<i32>, tensor<8x4xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"a"}, {}]>]>}
    cond {
      %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %t = stablehlo.tanh %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %m = sdy.manual_computation(%t) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%q: tensor<4x4xf32>) {
        %u = "stablehlo.all_reduce"(%q) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
        ^bb0(%f: tensor<f32>, %g: tensor<f32>):
          %h = stablehlo.add %f, %g : tensor<f32>
          stablehlo.return %h : tensor<f32>
        }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
        %v = sdy.manual_computation(%u) in_shardings=[<@mesh, [{}, {"b"}]>] out_shardings=[<@mesh, [{}, {"b"}]>] manual_axes={"b"} (%r: tensor<4x2xf32>) {
          %z = stablehlo.negate %r : (tensor<4x2xf32>) -> tensor<4x2xf32>
          sdy.return %z : tensor<4x2xf32>
        } : (tensor<4x4xf32>) -> tensor<4x4xf32>
        sdy.return %v : tensor<4x4xf32>
      } : (tensor<8x4xf32>) -> tensor<8x4xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %e = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %e, %m : tensor<i32>, tensor<8x4xf32>
    }
    %d = sdy.manual_computation(%o#1) in_shardings=[<@mesh, [{"a", "b"}, {}]>] out_shardings=[<@mesh, [{"a", "b"}, {}]>] manual_axes={"a", "b"} (%j: tensor<2x4xf32>) {
      sdy.return %j : tensor<2x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %d : tensor<8x4xf32>
  }
}
