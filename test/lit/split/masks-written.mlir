// What a loop of before puts out is no mask: a product with one selected when that loop was made, or the mask was never beside it.
// RUN: %weir opt %s --pass=split --tensor-size-threshold 1000 --stop-after split | FileCheck %s

// CHECK: %[[L:.*]]:2 = "weir.loop"
// CHECK: "stablehlo.dynamic_update_slice"
// CHECK: %[[W:.*]] = "stablehlo.multiply"(%arg3, %[[L]]#0)
// CHECK: %[[M:.*]] = "stablehlo.multiply"(%arg3, %[[L]]#1)
// CHECK: "func.return"(%[[W]], %[[M]], %{{.*}})
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x4xf32>, tensor<2x4xi1>, tensor<8x4xi1>, tensor<8x4xf32>, tensor<64xf32>, tensor<32xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<64xf32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%x: tensor<8x4xf32>, %few: tensor<2x4xi1>, %all: tensor<8x4xi1>, %y: tensor<8x4xf32>, %a: tensor<64xf32>, %b: tensor<32xf32>):
    %l:2 = "weir.loop"(%x, %few, %all) ({
    ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %xs: tensor<8x2xf32>, %fews: tensor<2x2xi1>, %alls: tensor<8x2xi1>):
      %at = "stablehlo.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
      %m = "stablehlo.convert"(%fews) : (tensor<2x2xi1>) -> tensor<2x2xf32>
      %z = "stablehlo.dynamic_update_slice"(%xs, %m, %at, %at) : (tensor<8x2xf32>, tensor<2x2xf32>, tensor<i64>, tensor<i64>) -> tensor<8x2xf32>
      %n = "stablehlo.convert"(%alls) : (tensor<8x2xi1>) -> tensor<8x2xf32>
      "weir.yield"(%z, %n) : (tensor<8x2xf32>, tensor<8x2xf32>) -> ()
    }) {extent = 4 : i64, in_dims = array<i64: 1, 1, 1>, in_units = array<i64: 1, 1, 1>, out_dims = array<i64: 1, 1>, out_units = array<i64: 1, 1>, slice = 2 : i64} : (tensor<8x4xf32>, tensor<2x4xi1>, tensor<8x4xi1>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    %written = "stablehlo.multiply"(%y, %l#0) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %masked = "stablehlo.multiply"(%y, %l#1) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %zero = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %ai = "stablehlo.broadcast_in_dim"(%a) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x32xf32>
    %bj = "stablehlo.broadcast_in_dim"(%b) <{broadcast_dimensions = array<i64: 1>}> : (tensor<32xf32>) -> tensor<64x32xf32>
    %q = "stablehlo.divide"(%ai, %bj) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %s = "stablehlo.reduce"(%q, %zero) <{dimensions = array<i64: 1>}> ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%w) : (tensor<f32>) -> ()
    }) : (tensor<64x32xf32>, tensor<f32>) -> tensor<64xf32>
    "func.return"(%written, %masked, %s) : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<64xf32>) -> ()
  }) : () -> ()
}) : () -> ()
