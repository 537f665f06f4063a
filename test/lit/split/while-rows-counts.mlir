// How often each row took part is a count that nothing is added to once the row is done: rows end by themselves. A count
// that is multiplied by what it is 0 for is not left alone, nor is a mask that is not false then: these take a pass.
// RUN: %weir opt %s --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split | FileCheck %s
// RUN: sed 's/stablehlo.add %n, %did/stablehlo.multiply %n, %did/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --skip until-last --stop-after split | FileCheck %s --check-prefix=WHOLE
// RUN: sed 's/convert %goes/convert %waits/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --skip until-last --stop-after split | FileCheck %s --check-prefix=WHOLE

// CHECK: "weir.loop"
// CHECK: "stablehlo.while"(
// CHECK: ^bb0({{.*}}: tensor<[[N:[0-9]+]]x40xf32>, {{.*}}: tensor<[[N]]xi32>{{.*}})
// CHECK: -> (tensor<[[N]]x40xf32>, tensor<[[N]]xi32>)
// CHECK-NOT: -> tensor<50x40xf32>

// WHOLE: "stablehlo.while"(
// WHOLE: (tensor<50x40xf32>, tensor<50xi32>) -> (tensor<50x40xf32>, tensor<50xi32>)
func.func public @main(%a: tensor<50xf32>) -> (tensor<50xf32>, tensor<50xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<50xi32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<50xf32>) -> tensor<50x40xf32>
  %r:2 = stablehlo.while(%y = %x, %n = %zero) : tensor<50x40xf32>, tensor<50xi32>
  cond {
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %high = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %far = stablehlo.constant dense<2.0> : tensor<50xf32>
    %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
    %false = stablehlo.constant dense<false> : tensor<i1>
    %any = stablehlo.reduce(%goes init: %false) applies stablehlo.or across dimensions = [0] : (tensor<50xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %any : tensor<i1>
  } do {
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %high = stablehlo.reduce(%y init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
    %far = stablehlo.constant dense<2.0> : tensor<50xf32>
    %goes = stablehlo.compare GT, %high, %far : (tensor<50xf32>, tensor<50xf32>) -> tensor<50xi1>
    %waits = stablehlo.not %goes : tensor<50xi1>
    %mask = stablehlo.broadcast_in_dim %goes, dims = [0] : (tensor<50xi1>) -> tensor<50x40xi1>
    %0 = stablehlo.constant dense<0.5> : tensor<50x40xf32>
    %half = stablehlo.multiply %y, %0 : tensor<50x40xf32>
    %new = stablehlo.select %mask, %half, %y : tensor<50x40xi1>, tensor<50x40xf32>
    %did = stablehlo.convert %goes : (tensor<50xi1>) -> tensor<50xi32>
    %more = stablehlo.add %n, %did : tensor<50xi32>
    stablehlo.return %new, %more : tensor<50x40xf32>, tensor<50xi32>
  }
  %s = stablehlo.reduce(%r#0 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  return %s, %r#1 : tensor<50xf32>, tensor<50xi32>
}
