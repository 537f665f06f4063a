// A . X + B . X is one product, wherever the two stand in the sum.
// RUN: %weir opt %s --pass=distribute,dce | FileCheck %s
// RUN: %weir opt %s --pass=distribute,dce --skip=distribute | FileCheck %s --check-prefix=SKIP
// SKIP-COUNT-2: "stablehlo.dot_general"

module {
  // The gradient of a . a^T: one side is used as it is and transposed.
  // CHECK: sym_name = "gradient"
  // CHECK: ^bb0(%[[G:.*]]: tensor<3x3xf32>, %[[X:.*]]: tensor<3x90xf32>, %[[U:.*]]: tensor<3x90xf32>)
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.transpose"(%[[G]]) <{permutation = array<i64: 1, 0>}>
  // CHECK-NEXT: %[[S:.*]] = "stablehlo.add"(%[[G]], %[[T]])
  // CHECK-NEXT: %[[P:.*]] = "stablehlo.dot_general"(%[[S]], %[[X]]) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.add"(%[[U]], %[[P]])
  // CHECK-NEXT: "func.return"(%[[R]])
  func.func public @gradient(%g: tensor<3x3xf32>, %x: tensor<3x90xf32>, %u: tensor<3x90xf32>) -> tensor<3x90xf32> {
    %0 = stablehlo.dot_general %g, %x, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %1 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %2 = stablehlo.add %u, %0 : tensor<3x90xf32>
    %3 = stablehlo.add %2, %1 : tensor<3x90xf32>
    return %3 : tensor<3x90xf32>
  }

  // Three products, the common side on the left, with a batch.
  // CHECK: sym_name = "three"
  // CHECK-COUNT-2: "stablehlo.add"
  // CHECK: "stablehlo.dot_general"(%arg{{[0-9]+}}, %{{.*}}) <{{.*}}lhs_batching_dimensions = [0], rhs_batching_dimensions = [1]
  // CHECK-NOT: dot_general
  // CHECK: "func.return"
  func.func private @three(%x: tensor<2x90x3xf64>, %a: tensor<3x2x4xf64>, %b: tensor<2x3x4xf64>, %c: tensor<2x4x3xf64>) -> tensor<2x90x4xf64> {
    %0 = stablehlo.dot_general %x, %a, batching_dims = [0] x [1], contracting_dims = [2] x [0] : (tensor<2x90x3xf64>, tensor<3x2x4xf64>) -> tensor<2x90x4xf64>
    %1 = stablehlo.dot_general %x, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x90x3xf64>, tensor<2x3x4xf64>) -> tensor<2x90x4xf64>
    %2 = stablehlo.dot_general %x, %c, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x90x3xf64>, tensor<2x4x3xf64>) -> tensor<2x90x4xf64>
    %3 = stablehlo.add %1, %2 : tensor<2x90x4xf64>
    %4 = stablehlo.add %0, %3 : tensor<2x90x4xf64>
    return %4 : tensor<2x90x4xf64>
  }

  // A product that is read twice; A larger than X; f16; two precisions; another side.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-10: "stablehlo.dot_general"
  func.func private @left_alone(%g: tensor<3x3xf32>, %x: tensor<3x90xf32>, %k: tensor<90x90xf32>, %v: tensor<90x2xf32>, %h: tensor<3x3xf16>, %y: tensor<3x90xf16>, %z: tensor<90x3xf32>) -> (tensor<3x90xf32>, tensor<3x90xf32>, tensor<90x2xf32>, tensor<3x90xf16>, tensor<3x90xf32>, tensor<3x90xf32>) {
    %0 = stablehlo.dot_general %g, %x, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %1 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %2 = stablehlo.add %0, %1 : tensor<3x90xf32>
    %3 = stablehlo.dot_general %k, %v, contracting_dims = [1] x [0] : (tensor<90x90xf32>, tensor<90x2xf32>) -> tensor<90x2xf32>
    %4 = stablehlo.dot_general %k, %v, contracting_dims = [0] x [0] : (tensor<90x90xf32>, tensor<90x2xf32>) -> tensor<90x2xf32>
    %5 = stablehlo.add %3, %4 : tensor<90x2xf32>
    %6 = stablehlo.dot_general %h, %y, contracting_dims = [1] x [0] : (tensor<3x3xf16>, tensor<3x90xf16>) -> tensor<3x90xf16>
    %7 = stablehlo.dot_general %h, %y, contracting_dims = [0] x [0] : (tensor<3x3xf16>, tensor<3x90xf16>) -> tensor<3x90xf16>
    %8 = stablehlo.add %6, %7 : tensor<3x90xf16>
    %9 = stablehlo.dot_general %g, %x, contracting_dims = [1] x [0], precision = [HIGH, HIGH] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %10 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %11 = stablehlo.add %9, %10 : tensor<3x90xf32>
    %12 = stablehlo.dot_general %g, %z, contracting_dims = [1] x [1] : (tensor<3x3xf32>, tensor<90x3xf32>) -> tensor<3x90xf32>
    %13 = stablehlo.dot_general %g, %x, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %14 = stablehlo.add %12, %13 : tensor<3x90xf32>
    return %2, %0, %5, %8, %11, %14 : tensor<3x90xf32>, tensor<3x90xf32>, tensor<90x2xf32>, tensor<3x90xf16>, tensor<3x90xf32>, tensor<3x90xf32>
  }
}
