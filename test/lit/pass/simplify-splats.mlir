// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

module {
  // Of 4 kB or more: a loop makes it slice by slice.
  // CHECK: %0 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<f32>}>
  // CHECK-NEXT: %1 = "stablehlo.broadcast_in_dim"(%0)
  // CHECK-SAME: tensor<32x32xf32>
  // CHECK-NEXT: %2 = "stablehlo.constant"() <{value = dense<1.500000e+00> : tensor<31x33xf32>}>
  // CHECK-NEXT: "func.return"(%1, %2)
  func.func public @constants() -> (tensor<32x32xf32>, tensor<31x33xf32>) {
    %0 = stablehlo.constant dense<1.500000e+00> : tensor<32x32xf32>
    %1 = stablehlo.constant dense<1.500000e+00> : tensor<31x33xf32>
    return %0, %1 : tensor<32x32xf32>, tensor<31x33xf32>
  }

  // CHECK: sym_name = "window"
  // CHECK-NOT: stablehlo.scatter
  // CHECK: "stablehlo.dynamic_update_slice"(%arg0, %arg1
  func.func public @window(%x: tensor<5x7xf32>, %u: tensor<2x3xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.constant dense<3> : tensor<1xi32>
    %1 = stablehlo.constant dense<4> : tensor<1xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = "stablehlo.scatter"(%x, %2, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x7xf32>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<5x7xf32>
    return %3 : tensor<5x7xf32>
  }

  // CHECK: sym_name = "row"
  // CHECK-NOT: stablehlo.scatter
  // CHECK: "stablehlo.reshape"(%arg1) : (tensor<7xf32>) -> tensor<1x7xf32>
  // CHECK: "stablehlo.dynamic_update_slice"
  func.func public @row(%x: tensor<5x7xf32>, %u: tensor<7xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.constant dense<4> : tensor<1xi32>
    %1 = "stablehlo.scatter"(%x, %0, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x7xf32>, tensor<1xi32>, tensor<7xf32>) -> tensor<5x7xf32>
    return %1 : tensor<5x7xf32>
  }

  // What the window has is read and added to; different numbers in one constant.
  // CHECK: sym_name = "added"
  // CHECK-NOT: stablehlo.scatter
  // CHECK: %[[W:.*]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 5, 7>, start_indices = array<i64: 3, 4>, strides = array<i64: 1, 1>}>
  // CHECK: %[[S:.*]] = "stablehlo.add"(%[[W]], %arg1)
  // CHECK: "stablehlo.dynamic_update_slice"(%arg0, %[[S]]
  func.func public @added(%x: tensor<5x7xf32>, %u: tensor<2x3xf32>) -> tensor<5x7xf32> {
    %0 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
    %1 = "stablehlo.scatter"(%x, %0, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %2 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<5x7xf32>, tensor<2xi32>, tensor<2x3xf32>) -> tensor<5x7xf32>
    return %1 : tensor<5x7xf32>
  }

  // CHECK: sym_name = "read"
  // CHECK-NOT: stablehlo.gather
  // CHECK: %[[R:.*]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 5, 6>, start_indices = array<i64: 0, 5>, strides = array<i64: 1, 1>}>
  // CHECK: "stablehlo.reshape"(%[[R]]) : (tensor<5x1xf32>) -> tensor<5xf32>
  func.func public @read(%x: tensor<5x7xf32>) -> tensor<5xf32> {
    %0 = stablehlo.constant dense<5> : tensor<1xi32>
    %1 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, slice_sizes = array<i64: 5, 1>}> : (tensor<5x7xf32>, tensor<1xi32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }

  // A scatter leaves out what is outside, before the beginning or past the end; two ops.
  // CHECK: sym_name = "left_alone"
  // CHECK-NOT: dynamic_update_slice
  // CHECK: "func.return"
  func.func public @left_alone(%x: tensor<5x7xf32>, %u: tensor<2x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) {
    %0 = stablehlo.constant dense<4> : tensor<1xi32>
    %1 = stablehlo.constant dense<-1> : tensor<1xi32>
    %2 = stablehlo.constant dense<1> : tensor<1xi32>
    %3 = "stablehlo.scatter"(%x, %0, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x7xf32>, tensor<1xi32>, tensor<2x7xf32>) -> tensor<5x7xf32>
    %4 = "stablehlo.scatter"(%x, %1, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<5x7xf32>, tensor<1xi32>, tensor<2x7xf32>) -> tensor<5x7xf32>
    %5 = "stablehlo.scatter"(%x, %2, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = stablehlo.add %a, %b : tensor<f32>
      %7 = stablehlo.negate %6 : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<5x7xf32>, tensor<1xi32>, tensor<2x7xf32>) -> tensor<5x7xf32>
    return %3, %4, %5 : tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>
  }
}
