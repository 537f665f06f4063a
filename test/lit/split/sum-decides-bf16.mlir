// A sum of bf16 whose terms decide about another result of its reduce stays bf16: what is compared
// must not change.
// RUN: %weir opt %s --tensor-size-threshold 50 --tensor-split-size 24 --stop-after split | FileCheck %s

// CHECK:     "weir.loop"
// CHECK-NOT: f32
// CHECK:     "stablehlo.add"(%{{.*}}) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
// CHECK-NOT: f32
// CHECK:     "weir.yield"
func.func public @main(%x: tensor<48xbf16>) -> (tensor<bf16>, tensor<bf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %e = stablehlo.exponential %x : tensor<48xbf16>
  %a:2 = "stablehlo.reduce"(%e, %e, %zero, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%s: tensor<bf16>, %m: tensor<bf16>, %t: tensor<bf16>, %n: tensor<bf16>):
    %sum = stablehlo.add %s, %t : tensor<bf16>
    %more = stablehlo.compare GT, %s, %t : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
    %one = stablehlo.select %more, %m, %n : tensor<i1>, tensor<bf16>
    stablehlo.return %sum, %one : tensor<bf16>, tensor<bf16>
  }) : (tensor<48xbf16>, tensor<48xbf16>, tensor<bf16>, tensor<bf16>) -> (tensor<bf16>, tensor<bf16>)
  return %a#0, %a#1 : tensor<bf16>, tensor<bf16>
}
