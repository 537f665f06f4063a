// A while in the body of another ends once the rows of a slice are done: how many trips that took is no number for all
// rows, so neither values of rows nor branches may read it. Where nothing does, both whiles go by rows.
// RUN: %weir opt %s --tensor-size-threshold 4000 --tensor-split-size 1000 --skip until-last,if-convert --stop-after split | FileCheck %s
// RUN: sed 's/convert %count/convert %i/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --skip until-last,if-convert --stop-after split | FileCheck %s
// RUN: sed 's/GT, %count/GT, %i/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --skip until-last,if-convert --stop-after split | FileCheck %s
// RUN: sed 's/convert %count/convert %i/; s/GT, %count/GT, %i/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --skip until-last,if-convert --stop-after split | FileCheck %s --check-prefix=UNREAD

// CHECK: "stablehlo.case"
// CHECK: (tensor<i32>, tensor<50x40xf32>) -> (tensor<i32>, tensor<50x40xf32>)
// UNREAD: "weir.loop"
// UNREAD: "stablehlo.case"
// UNREAD-NOT: (tensor<i32>, tensor<50x40xf32>)
func.func public @main(%a: tensor<50xf32>) -> tensor<50xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<50xf32>) -> tensor<50x40xf32>
  %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<50x40xf32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %on = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %on : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %s:2 = stablehlo.while(%z = %y, %n = %start) : tensor<50x40xf32>, tensor<i32>
    cond {
      %low = stablehlo.constant dense<0.0> : tensor<f32>
      %high = stablehlo.reduce(%z init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
      %far = stablehlo.constant dense<2.0> : tensor<50xf32>
      %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
      %false = stablehlo.constant dense<false> : tensor<i1>
      %any = stablehlo.reduce(%goes init: %false) applies stablehlo.or across dimensions = [0] : (tensor<50xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %any : tensor<i1>
    } do {
      %low = stablehlo.constant dense<0.0> : tensor<f32>
      %high = stablehlo.reduce(%z init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
      %far = stablehlo.constant dense<2.0> : tensor<50xf32>
      %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
      %mask = stablehlo.broadcast_in_dim %goes, dims = [0] : (tensor<50xi1>) -> tensor<50x40xi1>
      %0 = stablehlo.constant dense<0.5> : tensor<50x40xf32>
      %half = stablehlo.multiply %z, %0 : tensor<50x40xf32>
      %new = stablehlo.select %mask, %half, %z : tensor<50x40xi1>, tensor<50x40xf32>
      %step = stablehlo.constant dense<1> : tensor<i32>
      %more = stablehlo.add %n, %step : tensor<i32>
      stablehlo.return %new, %more : tensor<50x40xf32>, tensor<i32>
    }
    %count = stablehlo.add %s#1, %start : tensor<i32>
    %number = stablehlo.convert %count : (tensor<i32>) -> tensor<f32>
    %by = stablehlo.broadcast_in_dim %number, dims = [] : (tensor<f32>) -> tensor<50x40xf32>
    %w = stablehlo.add %s#0, %by : tensor<50x40xf32>
    %long = stablehlo.compare GT, %count, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %which = stablehlo.convert %long : (tensor<i1>) -> tensor<i32>
    %v = "stablehlo.case"(%which) ({
      stablehlo.return %w : tensor<50x40xf32>
    }, {
      %e = stablehlo.exponential %w : tensor<50x40xf32>
      stablehlo.return %e : tensor<50x40xf32>
    }) : (tensor<i32>) -> tensor<50x40xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %v : tensor<i32>, tensor<50x40xf32>
  }
  %sum = stablehlo.reduce(%r#1 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  return %sum : tensor<50xf32>
}
