// Left alone: meshes that say an order of devices or are not of all of them, sums that stay
// unreduced, foreign calls, effects, what asks for its device, and where more would be gathered than
// the limit is, or more than an eighth of it made on each device. The first is the program that all of them differ from.
// RUN: %weir opt %s --pass=per-device | FileCheck %s --check-prefix=DONE
// RUN: sed 's/\["d"=2\]/["d"=2], device_ids=[1, 0]/' %s | %weir opt - --pass=per-device | FileCheck %s
// RUN: sed 's/\["d"=2\]/["d"=4]/' %s | %weir opt - --pass=per-device | FileCheck %s
// RUN: sed 's/\[{"d"}, {}\]>\]/[{"d"}, {}], unreduced={"e"}>]/' %s | %weir opt - --pass=per-device | FileCheck %s
// RUN: sed 's/stablehlo.sine %x/stablehlo.custom_call @sine(%x)/' %s | %weir opt - --pass=per-device | FileCheck %s
// RUN: sed 's/stablehlo.sine %x/"other.sine"(%x)/' %s | %weir opt - --pass=per-device | FileCheck %s
// RUN: sed 's/dense<1> : tensor<ui32>/dense<1> : tensor<ui32> %id = stablehlo.partition_id : tensor<ui32>/' %s | %weir opt - --pass=per-device | FileCheck %s
// RUN: %weir opt %s --pass=per-device --memory-limit 100 | FileCheck %s
// RUN: %weir opt %s --pass=per-device --memory-limit 1000 | FileCheck %s
// RUN: %weir opt %s --pass=per-device --memory-limit 1024 | FileCheck %s --check-prefix=DONE
// RUN: sed 's/num_partitions = 2/num_partitions = 1/' %s | %weir opt - --pass=per-device | FileCheck %s
// RUN: sed 's/{"d"}, {}/{}, {}/' %s | %weir opt - --pass=per-device | FileCheck %s

// What its axes do not divide is whole on each.
// RUN: sed 's/8x4x/9x4x/g' %s | %weir opt - --pass=per-device | FileCheck %s --check-prefix=UNEVEN
// RUN: sed 's/8x4x/9x4x/g' %s | %weir opt - --pass=per-device --memory-limit 1000 | FileCheck %s
// DONE: "sdy.manual_computation"
// DONE: "stablehlo.all_gather"({{.*}}all_gather_dim = 0
// DONE: "stablehlo.sort"({{.*}}
// DONE: tensor<8x4xf32>) -> tensor<8x4xf32>
// CHECK-NOT: sdy.manual_computation
// CHECK: func.return
// UNEVEN: in_shardings = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>
// UNEVEN-NOT: all_gather
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["d"=2]>
  func.func public @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}) -> tensor<8x4xf32> {
    %one = stablehlo.constant dense<1> : tensor<ui32>
    %s = stablehlo.sine %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %t = "stablehlo.sort"(%s) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %t : tensor<8x4xf32>
  }
}
