// Sums over dimensions of a product, without the product.
// RUN: %weir opt %s --pass=sums,dce | FileCheck %s
// RUN: %weir opt %s --pass=sums,dce --skip=sums | FileCheck %s --check-prefix=SKIP
// SKIP: tensor<3x5xf32>

module {
  // CHECK: sym_name = "rows"
  // CHECK: ^bb0(%[[A:.*]]: tensor<3x4xf32>, %[[B:.*]]: tensor<4x5xf32>)
  // CHECK: %[[S:.*]] = "stablehlo.reduce"(%[[B]], {{.*}} <{dimensions = array<i64: 1>}>
  // CHECK: %[[R:.*]] = "stablehlo.dot_general"(%[[A]], %[[S]]) <{{.*}}lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]{{.*}} -> tensor<3xf32>
  // CHECK-NEXT: "func.return"(%[[R]])
  func.func public @rows(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    return %s : tensor<3xf32>
  }

  // A batch dimension becomes a contracted one, a free one of each side is summed over first; the contracted dimension of the
  // left side moves up.
  // CHECK: sym_name = "all"
  // CHECK: ^bb0(%[[A:.*]]: tensor<7x3x4x2xf64>, %[[B:.*]]: tensor<4x2x5x6xf64>)
  // CHECK: %[[S:.*]] = "stablehlo.reduce"(%[[A]], {{.*}} <{dimensions = array<i64: 1>}>
  // CHECK: %[[T:.*]] = "stablehlo.reduce"(%[[B]], {{.*}} <{dimensions = array<i64: 3>}>
  // CHECK: "stablehlo.dot_general"(%[[S]], %[[T]]) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1, 2], rhs_contracting_dimensions = [0, 1]>
  // CHECK-SAME: -> tensor<7x5xf64>
  func.func private @all(%a: tensor<7x3x4x2xf64>, %b: tensor<4x2x5x6xf64>) -> tensor<7x5xf64> {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %p = stablehlo.dot_general %a, %b, batching_dims = [3] x [1], contracting_dims = [2] x [0] : (tensor<7x3x4x2xf64>, tensor<4x2x5x6xf64>) -> tensor<2x7x3x5x6xf64>
    %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 2, 4] : (tensor<2x7x3x5x6xf64>, tensor<f64>) -> tensor<7x5xf64>
    return %s : tensor<7x5xf64>
  }

  // Read twice; begins with 1; a maximum; f16.
  // CHECK: sym_name = "left_alone"
  // CHECK: -> tensor<3x5xf32>
  // CHECK: -> tensor<5x3xf32>
  // CHECK: -> tensor<3x5xf32>
  // CHECK: -> tensor<3x5xf16>
  func.func private @left_alone(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<3x4xf16>, %d: tensor<4x5xf16>) -> (tensor<3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf16>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %half = stablehlo.constant dense<0.0> : tensor<f16>
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %0 = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %q = stablehlo.dot_general %b, %a, contracting_dims = [0] x [1] : (tensor<4x5xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
    %1 = stablehlo.reduce(%q init: %one) applies stablehlo.add across dimensions = [0] : (tensor<5x3xf32>, tensor<f32>) -> tensor<3xf32>
    %u = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %2 = stablehlo.reduce(%u init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
    %h = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<3x4xf16>, tensor<4x5xf16>) -> tensor<3x5xf16>
    %3 = stablehlo.reduce(%h init: %half) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf16>, tensor<f16>) -> tensor<3xf16>
    return %p, %0, %1, %2, %3 : tensor<3x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf16>
  }

  // Summed anew in each trip of a loop, made once in front of it.
  // CHECK: sym_name = "in_a_loop"
  // CHECK: %[[P:.*]] = "stablehlo.dot_general"({{.*}} -> tensor<3x5xf32>
  // CHECK: "stablehlo.while"
  // CHECK: "stablehlo.reduce"(%[[P]]
  func.func private @in_a_loop(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %s: tensor<3xf32>) -> tensor<3xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %r:2 = stablehlo.while(%i = %none, %x = %s) : tensor<i32>, tensor<3xf32>
    cond {
      %nine = stablehlo.constant dense<9> : tensor<i32>
      %more = stablehlo.compare LT, %i, %nine : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
      %y = stablehlo.add %x, %t : tensor<3xf32>
      stablehlo.return %next, %y : tensor<i32>, tensor<3xf32>
    }
    return %r#1 : tensor<3xf32>
  }
}
