// XLA calls instructions as locations say. What is called as its own are, but for '_', could be the same function as these.
// RUN: %weir opt %s --tensor-size-threshold 400 --tensor-split-size 400 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 1MB | FileCheck %s --check-prefix=ALONE

// CHECK: "stablehlo.exponential"({{.*}} loc("jit(my_f)/broadcast-in-dim"(callsite("my_f"("my_f.py":3:1) at "main"("a_b.py":4:1))))
// CHECK: "stablehlo.abs"({{.*}} loc(callsite("select-n"("a_b.py":5:1) at "jit(my_f)/jit(my_where)"("a_b.py":6:1)))
// CHECK: "stablehlo.reduce"
// CHECK: }) : (tensor<37x2xf32>, {{.*}} loc("a_b.py":1:1)
// CHECK: "stablehlo.while"
// ALONE: stablehlo.exponential %b {{.*}} loc("jit(my_f)/broadcast_in_dim"(
func.func public @main(%x: tensor<37xf32>) -> tensor<23xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<37xf32>) -> tensor<37x23xf32>
  %e = stablehlo.exponential %b : tensor<37x23xf32> loc("jit(my_f)/broadcast_in_dim"(callsite("my_f"("my_f.py":3:1) at "main"("a_b.py":4:1))))
  %a = stablehlo.abs %e : tensor<37x23xf32> loc(callsite("select_n"("a_b.py":5:1) at "jit(my_f)/jit(my_where)"("a_b.py":6:1)))
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<37x23xf32>, tensor<f32>) -> tensor<23xf32> loc("a_b.py":1:1)
  return %s : tensor<23xf32>
}
