// A while that goes on as long as any row does, and leaves rows alone that are done: each slice of %x ends by itself.
// Where rows are not left alone, or the condition asks for more than rows (%k counts trips), it runs on all of them.
// RUN: %weir opt %s --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s
// RUN: sed 's/select %mask, %half, %y/select %mask, %half, %other/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/compare GT, %high, %far/compare GT, %high, %counted/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE

// CHECK: "weir.loop"
// CHECK: "stablehlo.while"(
// CHECK: ^bb0({{.*}}: tensor<i32>, {{.*}}: tensor<[[N:[0-9]+]]x40xf32>{{.*}})
// CHECK: "stablehlo.reduce"{{.*}}dimensions = array<i64: 0>
// CHECK: "stablehlo.or"
// CHECK: (tensor<[[N]]xi1>, tensor<i1>) -> tensor<i1>
// CHECK: -> (tensor<i32>, tensor<[[N]]x40xf32>)
// CHECK: "weir.yield"
// CHECK-NOT: -> tensor<50x40xf32>

// WHOLE: "stablehlo.while"(
// WHOLE: (tensor<i32>, tensor<50x40xf32>) -> (tensor<i32>, tensor<50x40xf32>)
func.func public @main(%a: tensor<50xf32>) -> tensor<50xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<50xf32>) -> tensor<50x40xf32>
  %r:2 = stablehlo.while(%k = %zero, %y = %x) : tensor<i32>, tensor<50x40xf32>
  cond {
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %high = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %far = stablehlo.constant dense<2.0> : tensor<50xf32>
    %kf = stablehlo.convert %k : (tensor<i32>) -> tensor<f32>
    %counted = stablehlo.broadcast_in_dim %kf, dims = [] : (tensor<f32>) -> tensor<50xf32>
    %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
    %false = stablehlo.constant dense<false> : tensor<i1>
    %any = stablehlo.reduce(%goes init: %false) applies stablehlo.or across dimensions = [0] : (tensor<50xi1>, tensor<i1>) -> tensor<i1>
    %most = stablehlo.constant dense<99> : tensor<i32>
    %few = stablehlo.compare LT, %k, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %more = stablehlo.and %any, %few : tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %k, %one : tensor<i32>
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %high = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %far = stablehlo.constant dense<2.0> : tensor<50xf32>
    %kf = stablehlo.convert %k : (tensor<i32>) -> tensor<f32>
    %counted = stablehlo.broadcast_in_dim %kf, dims = [] : (tensor<f32>) -> tensor<50xf32>
    %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
    %mask = stablehlo.broadcast_in_dim %goes, dims = [0] : (tensor<50xi1>) -> tensor<50x40xi1>
    %0 = stablehlo.constant dense<0.5> : tensor<50x40xf32>
    %other = stablehlo.multiply %0, %0 : tensor<50x40xf32>
    %half = stablehlo.multiply %y, %0 : tensor<50x40xf32>
    %new = stablehlo.select %mask, %half, %y : tensor<50x40xi1>, tensor<50x40xf32>
    stablehlo.return %next, %new : tensor<i32>, tensor<50x40xf32>
  }
  %s = stablehlo.reduce(%r#1 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  return %s : tensor<50xf32>
}
