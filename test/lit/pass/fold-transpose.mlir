// A transpose of a product is the product with its sides exchanged: the sum over slices needs no second copy.
// RUN: weir opt %s --pass fold-transpose,dce | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK: ^bb0(%[[X:.*]]: tensor<7x3xf32>, %[[Y:.*]]: tensor<7x5xf32>
// CHECK: "stablehlo.dot_general"(%[[X]], %[[Y]])
// CHECK-SAME: lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]
// CHECK-SAME: precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]
// CHECK-SAME: -> tensor<3x5xf32>
// CHECK-NOT: transpose
func.func public @main(%x: tensor<7x3xf32>, %y: tensor<7x5xf32>) -> tensor<3x5xf32> {
  %p = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0], precision = [HIGH, HIGH] : (tensor<7x5xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
  return %t : tensor<3x5xf32>
}

// With batch dimensions in front and two free dimensions on the left.
// CHECK-LABEL: sym_name = "batch"
// CHECK: "stablehlo.dot_general"(%[[B:.*]], %[[A:.*]]) <{{.*}}lhs_batching_dimensions = [0], rhs_batching_dimensions = [0]{{.*}} -> tensor<2x6x4x5xf32>
// CHECK-NOT: transpose
func.func private @batch(%a: tensor<2x4x5x3xf32>, %b: tensor<2x6x3xf32>) -> tensor<2x6x4x5xf32> {
  %p = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [3] x [2] : (tensor<2x4x5x3xf32>, tensor<2x6x3xf32>) -> tensor<2x4x5x6xf32>
  %t = stablehlo.transpose %p, dims = [0, 3, 1, 2] : (tensor<2x4x5x6xf32>) -> tensor<2x6x4x5xf32>
  return %t : tensor<2x6x4x5xf32>
}

// Not where the product itself is read, too; nor where the free dimensions of one side change their order; nor where the sides differ in precision.
// CHECK-LABEL: sym_name = "left_alone"
// CHECK-COUNT-3: "stablehlo.transpose"
func.func private @left_alone(%a: tensor<4x5x3xf32>, %b: tensor<6x3xf32>, %x: tensor<7x3xf32>, %y: tensor<7x5xf32>) -> (tensor<5x3xf32>, tensor<3x5xf32>, tensor<6x5x4xf32>, tensor<3x5xf32>) {
  %p = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0] : (tensor<7x5xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
  %q = stablehlo.dot_general %a, %b, contracting_dims = [2] x [1] : (tensor<4x5x3xf32>, tensor<6x3xf32>) -> tensor<4x5x6xf32>
  %u = stablehlo.transpose %q, dims = [2, 1, 0] : (tensor<4x5x6xf32>) -> tensor<6x5x4xf32>
  %r = stablehlo.dot_general %y, %x, contracting_dims = [0] x [0], precision = [HIGH, DEFAULT] : (tensor<7x5xf32>, tensor<7x3xf32>) -> tensor<5x3xf32>
  %v = stablehlo.transpose %r, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
  return %p, %t, %u, %v : tensor<5x3xf32>, tensor<3x5xf32>, tensor<6x5x4xf32>, tensor<3x5xf32>
}
