// What is updated is there whole, and so is the result: slices of the update are put in as they
// come, into what the slices before left; nothing beyond the update is made.
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 700 --stop-after split | FileCheck %s

// CHECK: "weir.loop"(
// CHECK: %[[E:.*]] = "stablehlo.exponential"(%{{.*}}) : (tensor<[[ROWS:[0-9]+]]x14xf32>)
// CHECK: "stablehlo.dynamic_update_slice"(%{{.*}}, %[[E]]
// CHECK-SAME: (tensor<32x16xf32>, tensor<[[ROWS]]x14xf32>, tensor<i64>, tensor<i64>) -> tensor<32x16xf32>
// CHECK-NOT: "stablehlo.select"
// CHECK: "func.return"
func.func public @main(%x: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %below = stablehlo.slice %x [2:32, 1:15] : (tensor<32x16xf32>) -> tensor<30x14xf32>
  %above = stablehlo.slice %x [0:30, 1:15] : (tensor<32x16xf32>) -> tensor<30x14xf32>
  %d = stablehlo.subtract %below, %above : tensor<30x14xf32>
  %e = stablehlo.exponential %d : tensor<30x14xf32>
  %u = stablehlo.dynamic_update_slice %x, %e, %one, %one : (tensor<32x16xf32>, tensor<30x14xf32>, tensor<i32>, tensor<i32>) -> tensor<32x16xf32>
  return %u : tensor<32x16xf32>
}
