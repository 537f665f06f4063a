// A loop that reads one row a trip of what is too large: the row is made in the trip, of the row of
// %x that it comes from, with the index clamped as dynamic_slice clamps it.
// RUN: %weir opt %s --tensor-size-threshold 300 --stop-after split | FileCheck %s

// CHECK:      "stablehlo.while"
// CHECK:      %[[START:[a-z0-9]+]] = "stablehlo.minimum"
// CHECK:      %[[ROW:[a-z0-9]+]] = "stablehlo.dynamic_slice"(%{{[a-z0-9]+}}, %[[START]]) <{slice_sizes = array<i64: 1>}> : (tensor<10xf32>, tensor<i64>) -> tensor<1xf32>
// CHECK:      %[[WIDE:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[ROW]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xf32>) -> tensor<1x9xf32>
// CHECK:      %[[EXP:[a-z0-9]+]] = "stablehlo.exponential"(%[[WIDE]]) : (tensor<1x9xf32>) -> tensor<1x9xf32>
// CHECK:      "stablehlo.reshape"(%[[EXP]]) : (tensor<1x9xf32>) -> tensor<9xf32>
// CHECK-NOT:  10x9x
func.func public @main(%x: tensor<10xf32>, %s: tensor<9xf32>) -> tensor<9xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<10xf32>) -> tensor<10x9xf32>
  %e = stablehlo.exponential %b : tensor<10x9xf32>
  %r:3 = stablehlo.while(%i = %zero, %d = %e, %t = %s) : tensor<i32>, tensor<10x9xf32>, tensor<9xf32>
  cond {
    %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dynamic_slice %d, %i, %zero, sizes = [1, 9] : (tensor<10x9xf32>, tensor<i32>, tensor<i32>) -> tensor<1x9xf32>
    %q = stablehlo.reshape %p : (tensor<1x9xf32>) -> tensor<9xf32>
    %u = stablehlo.reverse %t, dims = [0] : tensor<9xf32>
    %n = stablehlo.add %u, %q : tensor<9xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %d, %n : tensor<i32>, tensor<10x9xf32>, tensor<9xf32>
  }
  return %r#2 : tensor<9xf32>
}
