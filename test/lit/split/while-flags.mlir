// A while that carries which rows go on, as Equinox's do: a flag is set only where the condition is going to say so. Each slice of %x ends by itself.
// Not where flags are set again, say what was true before the trip, or of something else, or against another number; where a row that does
// not go on may have one before the first trip; or where something else selects.
// RUN: %weir opt %s --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s
// RUN: sed 's/and %flag, %goes/or %goes, %goes/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/and %flag, %goes/and %flag, %begun/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/compare GT, %ahead/compare GT, %least/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/%flag = %first/%flag = %all/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/compare GT, %high0/compare GE, %high0/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/broadcast_in_dim %flag/broadcast_in_dim %wider/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/GT, %ahead, %far/GT, %ahead, %near/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s --check-prefix=WHOLE

// CHECK: "weir.loop"
// CHECK: "stablehlo.while"(
// CHECK: ^bb0({{.*}}: tensor<i32>, {{.*}}: tensor<[[N:[0-9]+]]x40xf32>, {{.*}}: tensor<[[N]]xi1>{{.*}})
// CHECK: "stablehlo.or"
// CHECK: (tensor<[[N]]xi1>, tensor<i1>) -> tensor<i1>
// CHECK: "weir.yield"
// CHECK-NOT: -> tensor<50x40xf32>

// WHOLE: "stablehlo.while"(
// WHOLE: -> (tensor<i32>, tensor<50x40xf32>
func.func public @main(%a: tensor<50xf32>) -> tensor<50xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<50xf32>) -> tensor<50x40xf32>
  %high0 = stablehlo.reduce(%x init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  %far0 = stablehlo.constant dense<2.0> : tensor<50xf32>
  %first = stablehlo.compare GT, %high0, %far0 : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
  %all = stablehlo.constant dense<true> : tensor<50xi1>
  %r:3 = stablehlo.while(%k = %zero, %y = %x, %flag = %first) : tensor<i32>, tensor<50x40xf32>, tensor<50xi1>
  cond {
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %high = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %far = stablehlo.constant dense<2.0> : tensor<50xf32>
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
    %far = stablehlo.constant dense<2.0> : tensor<50xf32>
    %near = stablehlo.constant dense<1.0> : tensor<50xf32>
    %high = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %begun = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
    %closer = stablehlo.compare LE, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
    %wider = stablehlo.or %flag, %closer : tensor<50xi1>
    %mask = stablehlo.broadcast_in_dim %flag, dims = [0] : (tensor<50xi1>) -> tensor<50x40xi1>
    %0 = stablehlo.constant dense<0.5> : tensor<50x40xf32>
    %half = stablehlo.multiply %y, %0 : tensor<50x40xf32>
    %new = stablehlo.select %mask, %half, %y : tensor<50x40xi1>, tensor<50x40xf32>
    %ahead = stablehlo.reduce(%half init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %least = stablehlo.reduce(%half init: %low) applies stablehlo.minimum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %goes = stablehlo.compare GT, %ahead, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
    %still = stablehlo.and %flag, %goes : tensor<50xi1>
    stablehlo.return %next, %new, %still : tensor<i32>, tensor<50x40xf32>, tensor<50xi1>
  }
  %s = stablehlo.reduce(%r#1 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  return %s : tensor<50xf32>
}
