// Branches in a while's body that all slices take alike: what they read and end with is sliced, in one of them by a while
// whose rows end one by one; a part of a sum goes through them, beside zeros and what was added so far. Not: a branch that
// rows decide, a result that one branch has of all rows, or a part that something else than sums reads.
// RUN: %weir opt %s --tensor-size-threshold 7000 --tensor-split-size 1000 --stop-after split | FileCheck %s
// RUN: sed 's/"stablehlo.case"(%odd)/"stablehlo.case"(%most)/' %s | %weir opt - --tensor-size-threshold 7000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/return %y, %g/return %backwards, %g/' %s | %weir opt - --tensor-size-threshold 7000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/return %z, %more/return %z, %doubled/' %s | %weir opt - --tensor-size-threshold 7000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE

// CHECK: "weir.loop"
// CHECK: %{{[0-9]+}}:3 = "stablehlo.while"(
// CHECK: "stablehlo.case"(
// CHECK: "stablehlo.while"(
// CHECK: (tensor<[[N:[0-9]+]]x40xf32>) -> tensor<[[N]]x40xf32>
// CHECK: "stablehlo.dot_general"({{.*}} : (tensor<[[N]]x40xf32>, tensor<[[N]]x40xf32>) -> tensor<40x40xf32>
// CHECK: }) : (tensor<i32>) -> (tensor<[[N]]x40xf32>, tensor<40x40xf32>)
// CHECK: }) : (tensor<i32>, tensor<[[N]]x40xf32>, tensor<40x40xf32>)
// CHECK-NOT: -> tensor<50x40xf32>

// WHOLE: "stablehlo.case"(
// WHOLE: }) : (tensor<i32>) -> (tensor<50x40xf32>, tensor<40x40xf32>)
func.func public @main(%a: tensor<50xf32>, %w: tensor<40x40xf32>) -> (tensor<50xf32>, tensor<40x40xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<40x40xf32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<50xf32>) -> tensor<50x40xf32>
  %r:4 = stablehlo.while(%i = %zero, %y = %x, %g = %zeros, %m = %zero) : tensor<i32>, tensor<50x40xf32>, tensor<40x40xf32>, tensor<i32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %on = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %on : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %odd = stablehlo.and %i, %one : tensor<i32>
    %all = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<f32>
    %most = stablehlo.convert %all : (tensor<f32>) -> tensor<i32>
    %backwards = stablehlo.reverse %y, dims = [0] : tensor<50x40xf32>
    %c:2 = "stablehlo.case"(%odd) ({
      stablehlo.return %y, %g : tensor<50x40xf32>, tensor<40x40xf32>
    }, {
      %none_yet = stablehlo.constant dense<0> : tensor<50xi32>
      %rows:2 = stablehlo.while(%v = %y, %n = %none_yet) : tensor<50x40xf32>, tensor<50xi32>
      cond {
        %from = stablehlo.constant dense<0.0> : tensor<f32>
        %high = stablehlo.reduce(%v init: %from) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
        %far = stablehlo.constant dense<2.0> : tensor<50xf32>
        %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
        %false = stablehlo.constant dense<false> : tensor<i1>
        %any = stablehlo.reduce(%goes init: %false) applies stablehlo.or across dimensions = [0] : (tensor<50xi1>, tensor<i1>) -> tensor<i1>
        stablehlo.return %any : tensor<i1>
      } do {
        %from = stablehlo.constant dense<0.0> : tensor<f32>
        %high = stablehlo.reduce(%v init: %from) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
        %far = stablehlo.constant dense<2.0> : tensor<50xf32>
        %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
        %mask = stablehlo.broadcast_in_dim %goes, dims = [0] : (tensor<50xi1>) -> tensor<50x40xi1>
        %by = stablehlo.constant dense<0.5> : tensor<50x40xf32>
        %half = stablehlo.multiply %v, %by : tensor<50x40xf32>
        %new = stablehlo.select %mask, %half, %v : tensor<50x40xi1>, tensor<50x40xf32>
        %did = stablehlo.convert %goes : (tensor<50xi1>) -> tensor<50xi32>
        %count = stablehlo.add %n, %did : tensor<50xi32>
        stablehlo.return %new, %count : tensor<50x40xf32>, tensor<50xi32>
      }
      %z = stablehlo.tanh %rows#0 : tensor<50x40xf32>
      %p = stablehlo.dot_general %y, %z, contracting_dims = [0] x [0] : (tensor<50x40xf32>, tensor<50x40xf32>) -> tensor<40x40xf32>
      %more = stablehlo.add %g, %p : tensor<40x40xf32>
      %doubled = stablehlo.multiply %more, %more : tensor<40x40xf32>
      stablehlo.return %z, %more : tensor<50x40xf32>, tensor<40x40xf32>
    }) : (tensor<i32>) -> (tensor<50x40xf32>, tensor<40x40xf32>)
    stablehlo.return %next, %c#0, %c#1, %odd : tensor<i32>, tensor<50x40xf32>, tensor<40x40xf32>, tensor<i32>
  }
  %s = stablehlo.reduce(%r#1 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  return %s, %r#2 : tensor<50xf32>, tensor<40x40xf32>
}
