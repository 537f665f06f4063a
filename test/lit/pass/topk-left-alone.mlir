// Sorts that are no top_k, one for each thing that could be taken for one: byte for byte as without the pass.
// RUN: %weir opt %s --pass=cse,dce > %t.without
// RUN: %weir opt %s --pass=topk,cse,dce > %t.with
// RUN: diff %t.without %t.with
// RUN: FileCheck %s < %t.with

module {
  // CHECK-NOT: top_k
  // CHECK: mhlo.topk
  // CHECK-NOT: "chlo.top_k"

  // Floats compared as floats: NaN is in no order.
  func.func public @as_floats(%x: tensor<40xf32>) -> tensor<3xf32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %2 = stablehlo.slice %0 [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %2 : tensor<3xf32>
  }

  func.func public @not_strict(%x: tensor<40xi32>) -> tensor<3xi32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.compare LE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xi32>) -> tensor<40xi32>
    %2 = stablehlo.slice %0 [0:3] : (tensor<40xi32>) -> tensor<3xi32>
    return %2 : tensor<3xi32>
  }

  // The sides are not alike: -a < b.
  func.func public @not_alike(%x: tensor<40xi32>) -> tensor<3xi32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.negate %a : tensor<i32>
      %1 = stablehlo.compare LT, %c, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xi32>) -> tensor<40xi32>
    %2 = stablehlo.slice %0 [0:3] : (tensor<40xi32>) -> tensor<3xi32>
    return %2 : tensor<3xi32>
  }

  // Arguments of two arrays compared with each other.
  func.func public @crossed(%x: tensor<40xi32>, %y: tensor<40xi32>) -> tensor<3xi32> {
    %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %1 = stablehlo.compare LT, %a, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xi32>, tensor<40xi32>) -> (tensor<40xi32>, tensor<40xi32>)
    %2 = stablehlo.slice %0#1 [0:3] : (tensor<40xi32>) -> tensor<3xi32>
    return %2 : tensor<3xi32>
  }

  // Different constants on the two sides.
  func.func public @unlike_constants(%x: tensor<40xi32>) -> tensor<3xi32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %c = stablehlo.xor %a, %one : tensor<i32>
      %d = stablehlo.xor %b, %two : tensor<i32>
      %1 = stablehlo.compare LT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xi32>) -> tensor<40xi32>
    %2 = stablehlo.slice %0 [0:3] : (tensor<40xi32>) -> tensor<3xi32>
    return %2 : tensor<3xi32>
  }

  // What a comparator computes inexactly may come out otherwise on a whole tensor.
  func.func public @inexact(%x: tensor<40xf32>) -> tensor<3xf32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.exponential %a : tensor<f32>
      %d = stablehlo.exponential %b : tensor<f32>
      %1 = stablehlo.compare LT, %c, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %2 = stablehlo.slice %0 [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %2 : tensor<3xf32>
  }

  // A loop looks at all of it.
  func.func public @looked_at_below(%x: tensor<40xi32>, %p: tensor<i1>) -> tensor<3xi32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<40xi32>) -> tensor<40xi32>
    %2 = stablehlo.slice %0 [0:3] : (tensor<40xi32>) -> tensor<3xi32>
    %3 = "stablehlo.if"(%p) ({
      %4 = stablehlo.slice %0 [20:23] : (tensor<40xi32>) -> tensor<3xi32>
      stablehlo.return %4 : tensor<3xi32>
    }, {
      stablehlo.return %2 : tensor<3xi32>
    }) : (tensor<i1>) -> tensor<3xi32>
    return %3 : tensor<3xi32>
  }

  // Too many, the middle, the wrong dimension, a part that moves.
  func.func public @other_parts(%x: tensor<8x40xi32>, %at: tensor<i32>) -> (tensor<8x11xi32>, tensor<8x3xi32>, tensor<2x40xi32>, tensor<8x3xi32>) {
    %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<8x40xi32>) -> tensor<8x40xi32>
    %2 = stablehlo.slice %0 [0:8, 0:11] : (tensor<8x40xi32>) -> tensor<8x11xi32>
    %n = stablehlo.not %x : tensor<8x40xi32>
    %3 = "stablehlo.sort"(%n) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<8x40xi32>) -> tensor<8x40xi32>
    %4 = stablehlo.slice %3 [0:8, 19:22] : (tensor<8x40xi32>) -> tensor<8x3xi32>
    %g = stablehlo.negate %x : tensor<8x40xi32>
    %5 = "stablehlo.sort"(%g) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<8x40xi32>) -> tensor<8x40xi32>
    %6 = stablehlo.slice %5 [0:2, 0:40] : (tensor<8x40xi32>) -> tensor<2x40xi32>
    %h = stablehlo.abs %x : tensor<8x40xi32>
    %7 = "stablehlo.sort"(%h) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<8x40xi32>) -> tensor<8x40xi32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.dynamic_slice %7, %zero, %at, sizes = [8, 3] : (tensor<8x40xi32>, tensor<i32>, tensor<i32>) -> tensor<8x3xi32>
    return %2, %4, %6, %8 : tensor<8x11xi32>, tensor<8x3xi32>, tensor<2x40xi32>, tensor<8x3xi32>
  }

  // k does not fit the result.
  func.func public @strange(%x: tensor<4xf32>) -> tensor<3xf32> {
    %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<4xf32>) -> (tensor<3xf32>, tensor<3xi32>)
    return %0#0 : tensor<3xf32>
  }
  func.func @larger(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<i1> {
    %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }
  func.func public @strange_too(%x: tensor<4x50xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x50xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1:2 = stablehlo.custom_call @ApproxTopK(%x, %0, %least, %c) {backend_config = "", called_computations = [@larger], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 1.000000e+00 : f32, reduction_dim = 1 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64}} : (tensor<4x50xf32>, tensor<4x50xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    return %1#0 : tensor<4x2xf32>
  }
}
