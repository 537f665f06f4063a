// Large results of branches that stay as they are: nothing moves into the branches, and nothing is split.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK-NOT: weir.loop
// CHECK: %[[RETURNED:[a-z0-9]+]] = "stablehlo.case"
// CHECK: }) : (tensor<i32>) -> tensor<8x6xf32>
// CHECK: "stablehlo.reduce"(%[[RETURNED]],
// CHECK: %[[EFFECT:[a-z0-9]+]] = "stablehlo.case"
// CHECK: "stablehlo.custom_call"() <{call_target_name = "tell", has_side_effect = true}>
// CHECK: }) : (tensor<i32>) -> tensor<8x6xf32>
// CHECK: "stablehlo.reduce"(%[[EFFECT]],
// CHECK: %[[BETWEEN:[a-z0-9]+]]:2 = "stablehlo.case"
// CHECK: }) : (tensor<i32>) -> (tensor<8x6xf32>, tensor<8xf32>)
// CHECK: %[[TOLD:[a-z0-9]+]] = "stablehlo.custom_call"(%[[BETWEEN]]#1) <{call_target_name = "ask", has_side_effect = true}>
// CHECK: "stablehlo.dot_general"(%[[TOLD]], %[[BETWEEN]]#0)
// CHECK: %[[GROWS:[a-z0-9]+]] = "stablehlo.case"
// CHECK: }) : (tensor<i32>) -> tensor<8x6xf32>
// CHECK: "stablehlo.concatenate"(%[[GROWS]], %[[GROWS]])
// CHECK: "func.return"(%[[RETURNED]],
// CHECK-NOT: weir.loop
func.func public @main(%x: tensor<8xf32>, %y: tensor<6xf32>, %i: tensor<i32>) -> (tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<6xf32>, tensor<16x6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // Somebody wants it whole.
  %returned = "stablehlo.case"(%i) ({
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    stablehlo.return %xs : tensor<8x6xf32>
  }, {
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    stablehlo.return %ys : tensor<8x6xf32>
  }) : (tensor<i32>) -> tensor<8x6xf32>
  %a = stablehlo.reduce(%returned init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  // A branch has effects.
  %effect = "stablehlo.case"(%i) ({
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    stablehlo.custom_call @tell() {has_side_effect = true} : () -> ()
    stablehlo.return %xs : tensor<8x6xf32>
  }, {
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    stablehlo.return %ys : tensor<8x6xf32>
  }) : (tensor<i32>) -> tensor<8x6xf32>
  %b = stablehlo.reduce(%effect init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
  // Between the branches and the reader is something that has effects.
  %between:2 = "stablehlo.case"(%i) ({
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    stablehlo.return %xs, %x : tensor<8x6xf32>, tensor<8xf32>
  }, {
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    stablehlo.return %ys, %a : tensor<8x6xf32>, tensor<8xf32>
  }) : (tensor<i32>) -> (tensor<8x6xf32>, tensor<8xf32>)
  %told = stablehlo.custom_call @ask(%between#1) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  %c = stablehlo.dot_general %told, %between#0, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8x6xf32>) -> tensor<6xf32>
  // What would cross instead is larger.
  %grows = "stablehlo.case"(%i) ({
    %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xf32>) -> tensor<8x6xf32>
    stablehlo.return %xs : tensor<8x6xf32>
  }, {
    %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xf32>) -> tensor<8x6xf32>
    %s = stablehlo.negate %ys : tensor<8x6xf32>
    stablehlo.return %s : tensor<8x6xf32>
  }) : (tensor<i32>) -> tensor<8x6xf32>
  %d = stablehlo.concatenate %grows, %grows, dim = 0 : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<16x6xf32>
  return %returned, %a, %b, %c, %d : tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<6xf32>, tensor<16x6xf32>
}
