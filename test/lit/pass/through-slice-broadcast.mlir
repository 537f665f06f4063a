// A value that is read whole at one dimension and in part at another: its function is made of the part, and what
// broadcasts that part still has the dimension.
// RUN: %weir opt %s --pass=through-slice,dce | FileCheck %s

// CHECK:      ^bb0(%[[X:[a-z0-9]+]]: tensor<40x6xf32>)
// CHECK:      %[[P:[0-9]+]] = "stablehlo.slice"(%[[X]]){{.*}} -> tensor<40x4xf32>
// CHECK-NEXT: %[[S:[0-9]+]] = "stablehlo.sine"(%[[P]]) : (tensor<40x4xf32>) -> tensor<40x4xf32>
// CHECK:      "stablehlo.broadcast_in_dim"(%[[X]]) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<40x6xf32>) -> tensor<40x6x4xf32>
// CHECK:      "stablehlo.broadcast_in_dim"(%[[S]]) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<40x4xf32>) -> tensor<40x6x4xf32>
// CHECK-NEXT: "stablehlo.multiply"{{.*}} -> tensor<40x6x4xf32>
// CHECK-NEXT: "func.return"
func.func public @main(%x: tensor<40x6xf32>) -> tensor<40x6x4xf32> {
  %0 = stablehlo.sine %x : tensor<40x6xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<40x6xf32>) -> tensor<40x6x6xf32>
  %2 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<40x6xf32>) -> tensor<40x6x6xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<40x6x6xf32>
  %4 = stablehlo.slice %3 [0:40, 0:6, 0:4] : (tensor<40x6x6xf32>) -> tensor<40x6x4xf32>
  return %4 : tensor<40x6x4xf32>
}
