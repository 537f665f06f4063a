// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

module {
  // Products that are added up over none are zero.
  // CHECK: sym_name = "product"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[Z:[0-9]+]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}>
  // CHECK-NEXT: %[[R:[0-9]+]] = "stablehlo.broadcast_in_dim"(%[[Z]])
  // CHECK-NEXT: "func.return"(%[[R]])
  func.func public @product(%a: tensor<5x0xf32>, %b: tensor<0x7xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x0xf32>, tensor<0x7xf32>) -> tensor<5x7xf32>
    return %0 : tensor<5x7xf32>
  }

  // CHECK: sym_name = "convolution"
  // CHECK-NOT: "stablehlo.convolution"
  // CHECK: "func.return"
  func.func public @convolution(%a: tensor<1x4x0xf32>, %k: tensor<3x0x2xf32>) -> tensor<1x2x2xf32> {
    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x0xf32>, tensor<3x0x2xf32>) -> tensor<1x2x2xf32>
    return %0 : tensor<1x2x2xf32>
  }

  // Where nothing is put all stays.
  // CHECK: sym_name = "put"
  // CHECK-NEXT: ^bb0(%arg0
  // CHECK-NEXT: "func.return"(%arg0)
  func.func public @put(%a: tensor<5xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<5xf32> {
    %0 = "stablehlo.scatter"(%a, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<5xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }

  // But not of a type that is known better then.
  // CHECK: sym_name = "better_known"
  // CHECK: "stablehlo.scatter"
  func.func public @better_known(%a: tensor<?xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<5xf32> {
    %0 = "stablehlo.scatter"(%a, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %1 = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<?xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<5xf32>
    return %0 : tensor<5xf32>
  }

  // Not of what may have elements.
  // CHECK: sym_name = "some"
  // CHECK: "stablehlo.dot_general"
  func.func public @some(%a: tensor<5x?xf32>, %b: tensor<?x7xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x?xf32>, tensor<?x7xf32>) -> tensor<5x7xf32>
    return %0 : tensor<5x7xf32>
  }
}
