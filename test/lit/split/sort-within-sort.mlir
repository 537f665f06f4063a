// A limit that nothing holds. Sorts are made slice by slice as the last resort: each trip sorts its
// slice with the elements found so far. That sort stays as it is. In slices again it would have
// sorts in turn, in vain, without end: 20 million ops were looked at.
// RUN: not %weir opt %s --memory-limit 7338 --debug 3 2>&1 >/dev/null | FileCheck %s

// CHECK: nothing holds: sorts slice by slice
// CHECK: split stablehlo.sort: extent 13
// CHECK: looked at {{[0-9][0-9]?[0-9]?[0-9]?[0-9]?}} ops
// CHECK: RESOURCE_EXHAUSTED: no way found
module @sorts attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<13x20xi32>, %arg1: tensor<13x20xi32>, %arg2: tensor<20x20xi32>, %arg3: tensor<13x13xi32>) -> (tensor<13x20xi32>, tensor<20xi32>, tensor<20xi32>, tensor<20xi32>) {
    %c = stablehlo.constant dense<3> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<13x20xi32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<13x20xi32>
    %2 = stablehlo.add %1, %arg1 : tensor<13x20xi32>
    %3 = call @sort(%2) : (tensor<13x20xi32>) -> tensor<13x20xi32>
    %4 = stablehlo.reverse %3, dims = [0] : tensor<13x20xi32>
    %5 = stablehlo.add %4, %3 : tensor<13x20xi32>
    %6 = call @sort(%5) : (tensor<13x20xi32>) -> tensor<13x20xi32>
    %7 = call @sort_0(%6) : (tensor<13x20xi32>) -> tensor<13x20xi32>
    %8 = stablehlo.multiply %7, %6 : tensor<13x20xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.reduce(%8 init: %c_0) applies stablehlo.add across dimensions = [0] : (tensor<13x20xi32>, tensor<i32>) -> tensor<20xi32>
    %10 = call @sort_0(%7) : (tensor<13x20xi32>) -> tensor<13x20xi32>
    %11 = call @sort_0(%10) : (tensor<13x20xi32>) -> tensor<13x20xi32>
    %12 = stablehlo.slice %11 [0:1, 0:20] : (tensor<13x20xi32>) -> tensor<1x20xi32>
    %13 = stablehlo.reshape %12 : (tensor<1x20xi32>) -> tensor<20xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.reduce(%10 init: %c_1) applies stablehlo.add across dimensions = [0] : (tensor<13x20xi32>, tensor<i32>) -> tensor<20xi32>
    return %3, %9, %14, %13 : tensor<13x20xi32>, tensor<20xi32>, tensor<20xi32>, tensor<20xi32>
  }
  func.func private @sort(%arg0: tensor<13x20xi32>) -> tensor<13x20xi32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<13x20xi32>) -> tensor<13x20xi32>
    return %0 : tensor<13x20xi32>
  }
  func.func private @sort_0(%arg0: tensor<13x20xi32>) -> tensor<13x20xi32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %1 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<13x20xi32>) -> tensor<13x20xi32>
    return %0 : tensor<13x20xi32>
  }
}
