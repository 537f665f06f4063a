// Products of several tensors in the order that costs least.
// RUN: %weir opt %s --pass=chain,dce | FileCheck %s

module {
  // (A B) c = A (B c)
  // CHECK: sym_name = "vector"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x40xf32>, tensor<40xf32>) -> tensor<2xf32>
  // CHECK-NEXT: %1 = "stablehlo.dot_general"(%arg0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<40x2xf32>, tensor<2xf32>) -> tensor<40xf32>
  // CHECK-NEXT: "func.return"(%1)
  func.func public @vector(%a: tensor<40x2xf32>, %b: tensor<2x40xf32>, %c: tensor<40xf32>) -> tensor<40xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf32>
    %1 = stablehlo.dot_general %0, %c, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
    return %1 : tensor<40xf32>
  }

  // Precision and algorithm come along; a transpose in between becomes other dimension numbers
  // ((A B)^T c = B^T (A^T c)); scalars go where what they scale is small.
  // CHECK: sym_name = "transposed"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.dot_general"(%arg0, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<40x2xf64>, tensor<40xf64>) -> tensor<2xf64>
  // CHECK-NEXT: %1 = "stablehlo.negate"(%0)
  // CHECK-NEXT: %2 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<f64>) -> tensor<2xf64>
  // CHECK-NEXT: %3 = "stablehlo.multiply"(%1, %2)
  // CHECK-NEXT: %4 = "stablehlo.dot_general"(%arg1, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<2x40xf64>, tensor<2xf64>) -> tensor<40xf64>
  // CHECK-NEXT: "func.return"(%4)
  func.func public @transposed(%a: tensor<40x2xf64>, %b: tensor<2x40xf64>, %c: tensor<40xf64>, %s: tensor<f64>) -> tensor<40xf64> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<40x2xf64>, tensor<2x40xf64>) -> tensor<40x40xf64>
    %n = stablehlo.negate %0 : tensor<40x40xf64>
    %1 = stablehlo.transpose %n, dims = [1, 0] : (tensor<40x40xf64>) -> tensor<40x40xf64>
    %2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f64>) -> tensor<40x40xf64>
    %3 = stablehlo.multiply %2, %1 : tensor<40x40xf64>
    %4 = stablehlo.dot_general %3, %c, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<40x40xf64>, tensor<40xf64>) -> tensor<40xf64>
    return %4 : tensor<40xf64>
  }

  // Each product of the power is scaled on its way, in any order.
  // CHECK: sym_name = "powers"
  // CHECK: ^bb0(%[[A:.*]]: tensor<40x40xf32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<40xf32>)
  // CHECK-COUNT-2: "stablehlo.dot_general"(%[[A]], %{{[0-9]+|arg2}}) {{.*}} -> tensor<40xf32>
  // CHECK-NEXT: broadcast_in_dim
  // CHECK-NEXT: "stablehlo.divide"
  // CHECK-NEXT: "stablehlo.dot_general"(%[[A]], %{{[0-9]+}}) {{.*}} -> tensor<40xf32>
  // CHECK-NEXT: broadcast_in_dim
  // CHECK-NEXT: %[[Y:.*]] = "stablehlo.divide"
  // CHECK-NEXT: "func.return"(%[[Y]])
  func.func public @powers(%a: tensor<40x40xf32>, %s: tensor<f32>, %v: tensor<40xf32>) -> tensor<40xf32> {
    %by = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<40x40xf32>
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
    %1 = stablehlo.divide %0, %by : tensor<40x40xf32>
    %2 = stablehlo.dot_general %1, %a, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
    %3 = stablehlo.divide %2, %by : tensor<40x40xf32>
    %4 = stablehlo.dot_general %3, %v, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
    return %4 : tensor<40xf32>
  }

  // A batch dimension that is kept, and one that the last product sums over.
  // CHECK: sym_name = "batched"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>}> : (tensor<3x5x2x40xf32>, tensor<3x5x40xf32>) -> tensor<3x5x2xf32>
  // CHECK-NEXT: %1 = "stablehlo.dot_general"(%arg0, %0) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1, 3], rhs_contracting_dimensions = [1, 2]>}> : (tensor<3x5x40x2xf32>, tensor<3x5x2xf32>) -> tensor<3x40xf32>
  // CHECK-NEXT: "func.return"(%1)
  func.func public @batched(%a: tensor<3x5x40x2xf32>, %b: tensor<3x5x2x40xf32>, %c: tensor<3x5x40xf32>) -> tensor<3x40xf32> {
    %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x5x40x2xf32>, tensor<3x5x2x40xf32>) -> tensor<3x5x40x40xf32>
    %1 = stablehlo.dot_general %0, %c, batching_dims = [0] x [0], contracting_dims = [1, 3] x [1, 2] : (tensor<3x5x40x40xf32>, tensor<3x5x40xf32>) -> tensor<3x40xf32>
    return %1 : tensor<3x40xf32>
  }

  // No product is needed more than once by then: P u and P^T w without P.
  // CHECK: sym_name = "shared"
  // CHECK-NEXT: ^bb0
  // CHECK-COUNT-4: "stablehlo.dot_general"{{.*}} -> tensor<{{40|2}}xf32>
  // CHECK-NEXT: "func.return"
  func.func public @shared(%a: tensor<40x2xf32>, %b: tensor<2x40xf32>, %u: tensor<40xf32>, %w: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf32>
    %1 = stablehlo.dot_general %0, %u, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %2 = stablehlo.dot_general %0, %w, contracting_dims = [0] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
    return %1, %2 : tensor<40xf32>, tensor<40xf32>
  }

  // An outer product per row times its own transpose is two such products of its factors, one of
  // which is a product itself and stays it: A (B B^T) A^T need not be positive.
  // CHECK: sym_name = "squared"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.dot_general"(%arg0, %arg1) {{.*}} -> tensor<40x30xf32>
  // CHECK-NEXT: %1 = "stablehlo.dot_general"(%0, %0) {{.*}}lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]{{.*}} -> tensor<40x40xf32>
  // CHECK-NEXT: %2 = "stablehlo.dot_general"(%arg2, %arg2) {{.*}}lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]{{.*}} -> tensor<40x40xf32>
  // CHECK-NEXT: %3 = "stablehlo.dot_general"(%1, %2) {{.*}}lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1]>{{.*}} -> tensor<40x40xf32>
  // CHECK-NEXT: "func.return"(%3)
  func.func public @squared(%a: tensor<40x2xf32>, %b: tensor<2x30xf32>, %y: tensor<40x20xf32>) -> tensor<40x40xf32> {
    %x = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<40x2xf32>, tensor<2x30xf32>) -> tensor<40x30xf32>
    %p = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<40x30xf32>, tensor<40x20xf32>) -> tensor<40x30x20xf32>
    %0 = stablehlo.dot_general %p, %p, contracting_dims = [1, 2] x [1, 2] : (tensor<40x30x20xf32>, tensor<40x30x20xf32>) -> tensor<40x40xf32>
    return %0 : tensor<40x40xf32>
  }
}
