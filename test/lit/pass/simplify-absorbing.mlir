// Absorbing elements, and tensors of no elements: exactly where they are exact.
// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

module {
  // CHECK: sym_name = "integers"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[ZERO:.*]] = "stablehlo.constant"() {{.*}}dense<0>
  // CHECK-NEXT: %[[ALL:.*]] = "stablehlo.constant"() {{.*}}dense<-1>
  // CHECK-NEXT: "func.return"(%[[ZERO]], %[[ZERO]], %[[ZERO]], %[[ALL]])
  func.func public @integers(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
    %zero = stablehlo.constant dense<0> : tensor<2xi32>
    %all = stablehlo.constant dense<-1> : tensor<2xi32>
    %0 = stablehlo.multiply %a, %zero : tensor<2xi32>
    %1 = stablehlo.multiply %zero, %a : tensor<2xi32>
    %2 = stablehlo.and %a, %zero : tensor<2xi32>
    %3 = stablehlo.or %all, %a : tensor<2xi32>
    return %0, %1, %2, %3 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  }

  // CHECK: sym_name = "booleans"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[YES:.*]] = "stablehlo.constant"() {{.*}}true
  // CHECK-NEXT: %[[NO:.*]] = "stablehlo.constant"() {{.*}}false
  // CHECK-NEXT: "func.return"(%[[NO]], %[[YES]])
  func.func public @booleans(%a: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>) {
    %yes = stablehlo.constant dense<true> : tensor<2xi1>
    %no = stablehlo.constant dense<false> : tensor<2xi1>
    %0 = stablehlo.and %a, %no : tensor<2xi1>
    %1 = stablehlo.or %a, %yes : tensor<2xi1>
    return %0, %1 : tensor<2xi1>, tensor<2xi1>
  }

  // 0 * inf is NaN, and so is a complex one's part; not every element is 0.
  // CHECK: sym_name = "not_exact"
  // CHECK: "stablehlo.multiply"
  // CHECK-NEXT: "stablehlo.multiply"
  // CHECK-NEXT: "stablehlo.multiply"
  // CHECK-NEXT: "func.return"
  func.func public @not_exact(%a: tensor<2xf32>, %z: tensor<2xcomplex<f32>>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xcomplex<f32>>, tensor<2xi32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
    %none = stablehlo.constant dense<(0.0, 0.0)> : tensor<2xcomplex<f32>>
    %some = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
    %0 = stablehlo.multiply %a, %zero : tensor<2xf32>
    %1 = stablehlo.multiply %z, %none : tensor<2xcomplex<f32>>
    %2 = stablehlo.multiply %i, %some : tensor<2xi32>
    return %0, %1, %2 : tensor<2xf32>, tensor<2xcomplex<f32>>, tensor<2xi32>
  }

  // CHECK: sym_name = "no_elements"
  // CHECK-NOT: "stablehlo.slice"
  // CHECK-NOT: "stablehlo.dynamic_slice"
  // CHECK-NOT: "stablehlo.dot_general"
  // CHECK-NOT: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @no_elements(%a: tensor<8x4xf32>, %b: tensor<4x0xf32>, %i: tensor<i32>, %at: tensor<0x1xi32>) -> (tensor<0x4xf32>, tensor<0x4xf32>, tensor<8x0xf32>, tensor<0x4xf32>) {
    %0 = stablehlo.slice %a [0:0, 0:4] : (tensor<8x4xf32>) -> tensor<0x4xf32>
    %1 = stablehlo.dynamic_slice %a, %i, %i, sizes = [0, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<0x4xf32>
    %2 = stablehlo.dot %a, %b : (tensor<8x4xf32>, tensor<4x0xf32>) -> tensor<8x0xf32>
    %3 = "stablehlo.gather"(%a, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<0x1xi32>) -> tensor<0x4xf32>
    return %0, %1, %2, %3 : tensor<0x4xf32>, tensor<0x4xf32>, tensor<8x0xf32>, tensor<0x4xf32>
  }

  // CHECK: sym_name = "sum_of_none"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[SUM:.*]] = "stablehlo.broadcast_in_dim"(%arg1)
  // CHECK-NEXT: "func.return"(%[[SUM]])
  func.func public @sum_of_none(%a: tensor<8x4xf32>, %init: tensor<f32>) -> tensor<4xf32> {
    %0 = stablehlo.slice %a [0:0, 0:4] : (tensor<8x4xf32>) -> tensor<0x4xf32>
    %1 = stablehlo.reduce(%0 init: %init) applies stablehlo.add across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }

  // A part without elements goes; if two are left they are put together as before.
  // CHECK: sym_name = "rolled_by_none"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[TWO:.*]] = "stablehlo.concatenate"(%arg0, %arg0)
  // CHECK-NEXT: "func.return"(%arg0, %[[TWO]], %arg1)
  func.func public @rolled_by_none(%a: tensor<8x4xf32>, %e: tensor<0x4xf32>) -> (tensor<8x4xf32>, tensor<16x4xf32>, tensor<0x4xf32>) {
    %0 = stablehlo.concatenate %e, %a, dim = 0 : (tensor<0x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.concatenate %a, %e, %a, dim = 0 : (tensor<8x4xf32>, tensor<0x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
    %2 = stablehlo.concatenate %e, dim = 0 : (tensor<0x4xf32>) -> tensor<0x4xf32>
    return %0, %1, %2 : tensor<8x4xf32>, tensor<16x4xf32>, tensor<0x4xf32>
  }
}
