// Empty tensors that the factor is not on are in nobody's way: a scan whose steps take no inputs (%k has no rows), as
// state space models have them, runs on slices of %y. Where the empty tensor has the rows themselves (%rows) there is
// nothing to slice. simplify would make zeros of both products.
// RUN: %weir opt %s --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split --skip simplify | FileCheck %s
// RUN: sed 's/add %yy, %whole/add %yy, %rows/' %s | %weir opt - --tensor-size-threshold 4000 --tensor-split-size 1000 --stop-after split --skip simplify | FileCheck %s --check-prefix=WHOLE

// CHECK-LABEL: sym_name = "main"
// CHECK: "weir.loop"
// CHECK: "stablehlo.while"(
// CHECK: -> (tensor<i32>, tensor<[[N:[0-9]+]]x40xf32>, tensor<50x0xf32>, tensor<0x40xf32>)
// CHECK: "weir.yield"
// CHECK-NOT: -> tensor<50x40xf32>

// WHOLE-NOT: "weir.loop"
// WHOLE: "stablehlo.while"(
// WHOLE: -> (tensor<i32>, tensor<50x40xf32>, tensor<50x0xf32>, tensor<0x40xf32>)
func.func public @main(%a: tensor<50xf32>, %u: tensor<50x0xf32>, %b: tensor<0x40xf32>) -> tensor<50xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<50xf32>) -> tensor<50x40xf32>
  %r:4 = stablehlo.while(%i = %zero, %y = %x, %n = %u, %k = %b) : tensor<i32>, tensor<50x40xf32>, tensor<50x0xf32>, tensor<0x40xf32>
  cond {
    %five = stablehlo.constant dense<5> : tensor<i32>
    %more = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %yy = stablehlo.multiply %y, %y : tensor<50x40xf32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %n, %i, %start, sizes = [1, 0] : (tensor<50x0xf32>, tensor<i32>, tensor<i32>) -> tensor<1x0xf32>
    %step = stablehlo.dot_general %row, %k, contracting_dims = [1] x [0] : (tensor<1x0xf32>, tensor<0x40xf32>) -> tensor<1x40xf32>
    %whole = stablehlo.broadcast_in_dim %step, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<50x40xf32>
    %rows = stablehlo.dot_general %n, %k, contracting_dims = [1] x [0] : (tensor<50x0xf32>, tensor<0x40xf32>) -> tensor<50x40xf32>
    %new = stablehlo.add %yy, %whole : tensor<50x40xf32>
    stablehlo.return %next, %new, %n, %k : tensor<i32>, tensor<50x40xf32>, tensor<50x0xf32>, tensor<0x40xf32>
  }
  %s = stablehlo.reduce(%r#1 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<50x40xf32>, tensor<f32>) -> tensor<50xf32>
  return %s : tensor<50xf32>
}
