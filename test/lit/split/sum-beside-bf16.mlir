// A sum of bf16 is carried in f32 where the reduce has other results, too, and so are these: XLA reduces
// floats of one type together.
// RUN: %weir opt %s --tensor-size-threshold 50 --tensor-split-size 24 --stop-after split | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK:      "weir.loop"
// CHECK:      %[[SUM:[a-z0-9]+]]: tensor<f32>, %[[MAX:[a-z0-9]+]]: tensor<f32>):
// CHECK:      %[[E:[a-z0-9]+]] = "stablehlo.exponential"
// CHECK:      %[[WIDE:[a-z0-9]+]] = "stablehlo.convert"(%[[E]]) : (tensor<12xbf16>) -> tensor<12xf32>
// CHECK:      %[[TOO:[a-z0-9]+]] = "stablehlo.convert"(%[[E]]) : (tensor<12xbf16>) -> tensor<12xf32>
// CHECK:      %[[R:[a-z0-9]+]]:2 = "stablehlo.reduce"(%[[WIDE]], %[[TOO]],
// CHECK-NEXT: tensor<f32>, %{{[a-z0-9]+}}: tensor<f32>, %{{[a-z0-9]+}}: tensor<f32>, %{{[a-z0-9]+}}: tensor<f32>):
// CHECK-NEXT: "stablehlo.add"{{.*}} -> tensor<f32>
// CHECK-NEXT: "stablehlo.maximum"{{.*}} -> tensor<f32>
// CHECK:      "stablehlo.add"(%[[SUM]], %[[R]]#0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.maximum"(%[[MAX]], %[[R]]#1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK:      "stablehlo.convert"({{.*}}) : (tensor<f32>) -> tensor<bf16>
func.func public @main(%x: tensor<48xbf16>) -> (tensor<bf16>, tensor<bf16>) {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %e = stablehlo.exponential %x : tensor<48xbf16>
  %a:2 = "stablehlo.reduce"(%e, %e, %zero, %low) <{dimensions = array<i64: 0>}> ({
  ^bb0(%s: tensor<bf16>, %m: tensor<bf16>, %t: tensor<bf16>, %n: tensor<bf16>):
    %sum = stablehlo.add %s, %t : tensor<bf16>
    %max = stablehlo.maximum %m, %n : tensor<bf16>
    stablehlo.return %sum, %max : tensor<bf16>, tensor<bf16>
  }) : (tensor<48xbf16>, tensor<48xbf16>, tensor<bf16>, tensor<bf16>) -> (tensor<bf16>, tensor<bf16>)
  return %a#0, %a#1 : tensor<bf16>, tensor<bf16>
}
