// What is read of a value is made of it, nothing else.
// RUN: %weir opt %s --pass=through-slice,dce | FileCheck %s
// RUN: %weir opt %s --pass=through-slice,dce --skip=through-slice | FileCheck %s --check-prefix=SKIP
// RUN: %weir opt %s --pass=through-slice,dce --tensor-size-threshold=100000 | FileCheck %s --check-prefix=SKIP
// SKIP: "stablehlo.dot_general"(%arg0, %arg1)
// SKIP: -> tensor<2x5x7xf32>

module {
  // A product by free dimensions, sums, elementwise ops, a bias; the two readers cut alike.
  // CHECK: sym_name = "loss"
  // CHECK: ^bb0(%[[H:.*]]: tensor<2x5x3xf32>, %[[W:.*]]: tensor<3x7xf32>, %[[B:.*]]: tensor<7xf32>)
  // CHECK-NEXT: %[[C:.*]] = "stablehlo.constant"
  // CHECK-NEXT: %[[S:.*]] = "stablehlo.slice"(%[[H]]) <{limit_indices = array<i64: 2, 4, 3>, start_indices = array<i64: 0, 1, 0>
  // CHECK-NEXT: %[[D:.*]] = "stablehlo.dot_general"(%[[S]], %[[W]]){{.*}} -> tensor<2x3x7xf32>
  // CHECK-NEXT: %[[BB:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]){{.*}} -> tensor<2x3x7xf32>
  // CHECK-NEXT: %[[A:.*]] = "stablehlo.add"(%[[D]], %[[BB]])
  // CHECK-NEXT: %[[E:.*]] = "stablehlo.exponential"(%[[A]])
  // CHECK-NEXT: %[[M:.*]] = "stablehlo.multiply"(%[[A]], %[[E]])
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.reduce"(%[[M]], %[[C]])
  // CHECK: (tensor<2x3x7xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: "func.return"(%[[R]], %[[A]])
  func.func public @loss(%h: tensor<2x5x3xf32>, %w: tensor<3x7xf32>, %b: tensor<7xf32>) -> (tensor<2x3xf32>, tensor<2x3x7xf32>) {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot_general %h, %w, contracting_dims = [2] x [0] : (tensor<2x5x3xf32>, tensor<3x7xf32>) -> tensor<2x5x7xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<7xf32>) -> tensor<2x5x7xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x5x7xf32>
    %3 = stablehlo.exponential %2 : tensor<2x5x7xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2x5x7xf32>
    %5 = stablehlo.reduce(%4 init: %c) applies stablehlo.add across dimensions = [2] : (tensor<2x5x7xf32>, tensor<f32>) -> tensor<2x5xf32>
    %6 = stablehlo.slice %5 [0:2, 1:4] : (tensor<2x5xf32>) -> tensor<2x3xf32>
    %7 = stablehlo.slice %2 [0:2, 1:4, 0:7] : (tensor<2x5x7xf32>) -> tensor<2x3x7xf32>
    return %6, %7 : tensor<2x3xf32>, tensor<2x3x7xf32>
  }

  // Both sides of a product and its batch; a transpose; a slice of a slice.
  // CHECK: sym_name = "sides"
  // CHECK-DAG: "stablehlo.slice"(%arg{{[0-9]+}}) <{limit_indices = array<i64: 2, 5, 4>, start_indices = array<i64: 1, 2, 0>{{.*}} -> tensor<1x3x4xf32>
  // CHECK-DAG: "stablehlo.slice"(%arg{{[0-9]+}}) <{limit_indices = array<i64: 4, 6, 2>, start_indices = array<i64: 0, 0, 1>{{.*}} -> tensor<4x6x1xf32>
  // CHECK: "stablehlo.dot_general"{{.*}} -> tensor<1x3x6xf32>
  // CHECK-NEXT: "stablehlo.transpose"{{.*}} -> tensor<6x1x3xf32>
  // CHECK-NEXT: "func.return"
  func.func private @sides(%x: tensor<2x9x4xf32>, %y: tensor<4x8x2xf32>) -> tensor<6x1x3xf32> {
    %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [2], contracting_dims = [2] x [0] : (tensor<2x9x4xf32>, tensor<4x8x2xf32>) -> tensor<2x9x8xf32>
    %1 = stablehlo.transpose %0, dims = [2, 0, 1] : (tensor<2x9x8xf32>) -> tensor<8x2x9xf32>
    %2 = stablehlo.slice %1 [0:7, 1:2, 1:8] : (tensor<8x2x9xf32>) -> tensor<7x1x7xf32>
    %3 = stablehlo.slice %2 [0:6, 0:1, 1:4] : (tensor<7x1x7xf32>) -> tensor<6x1x3xf32>
    return %3 : tensor<6x1x3xf32>
  }

  // Rows of a reshape that are rows of what is reshaped; a concatenation of which two parts are
  // read; indices counted from 3.
  // CHECK: sym_name = "moves"
  // CHECK: %[[I:.*]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4x2xi32>
  // CHECK-NEXT: %[[C:.*]] = "stablehlo.constant"() <{value = dense<3> : tensor<4x2xi32>}>
  // CHECK-NEXT: %[[J:.*]] = "stablehlo.add"(%[[I]], %[[C]])
  // CHECK-NEXT: %[[N:.*]] = "stablehlo.negate"(%[[J]])
  // CHECK: "stablehlo.concatenate"(%{{.*}}, %{{.*}}) <{dimension = 0 : i64}> : (tensor<1x2xi32>, tensor<4x2xi32>) -> tensor<5x2xi32>
  // CHECK: "stablehlo.slice"(%arg{{[0-9]+}}) <{limit_indices = array<i64: 8>, start_indices = array<i64: 4>{{.*}} -> tensor<4xi32>
  // CHECK: "stablehlo.abs"{{.*}} -> tensor<4xi32>
  // CHECK: "stablehlo.reshape"{{.*}} -> tensor<1x2x2xi32>
  func.func private @moves(%x: tensor<8xi32>, %y: tensor<3x2xi32>) -> (tensor<5x2xi32>, tensor<1x2x2xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<9x2xi32>
    %1 = stablehlo.negate %0 : tensor<9x2xi32>
    %2 = stablehlo.slice %1 [3:9, 0:2] : (tensor<9x2xi32>) -> tensor<6x2xi32>
    %3 = stablehlo.abs %y : tensor<3x2xi32>
    %4 = stablehlo.concatenate %3, %3, %2, dim = 0 : (tensor<3x2xi32>, tensor<3x2xi32>, tensor<6x2xi32>) -> tensor<12x2xi32>
    %5 = stablehlo.slice %4 [5:10, 0:2] : (tensor<12x2xi32>) -> tensor<5x2xi32>
    %6 = stablehlo.abs %x : tensor<8xi32>
    %7 = stablehlo.reshape %6 : (tensor<8xi32>) -> tensor<2x2x2xi32>
    %8 = stablehlo.slice %7 [1:2, 0:2, 0:2] : (tensor<2x2x2xi32>) -> tensor<1x2x2xi32>
    return %5, %8 : tensor<5x2xi32>, tensor<1x2x2xi32>
  }

  // Neighbours: all rows are read. Reversed. Every other one. A box that is none before the
  // reshape. Read in a branch as a whole. One of two
  // results. Rows of a matrix times a vector: a copy of rows.
  // CHECK: sym_name = "left_alone"
  // CHECK: "stablehlo.exponential"{{.*}} -> tensor<9x4xf32>
  // CHECK-COUNT-2: "stablehlo.slice"{{.*}} -> tensor<8x4xf32>
  // CHECK: "stablehlo.negate"{{.*}} -> tensor<9x4xf32>
  // CHECK: "stablehlo.reverse"{{.*}} -> tensor<9x4xf32>
  // CHECK: "stablehlo.sine"{{.*}} -> tensor<9x4xf32>
  // CHECK: "stablehlo.slice"{{.*}}strides = array<i64: 2, 1>
  // CHECK: "stablehlo.cosine"{{.*}} -> tensor<9x4xf32>
  // CHECK: "stablehlo.reshape"{{.*}} -> tensor<3x3x4xf32>
  // CHECK: "stablehlo.slice"{{.*}} -> tensor<3x2x4xf32>
  // CHECK: "stablehlo.tanh"{{.*}} -> tensor<9x4xf32>
  // CHECK: "stablehlo.slice"{{.*}} -> tensor<2x4xf32>
  // CHECK: "stablehlo.dot_general"(%arg{{[0-9]+}}, %arg{{[0-9]+}}){{.*}} -> tensor<9xf32>
  // CHECK: %[[P:.*]]:2 = "stablehlo.optimization_barrier"
  // CHECK: "stablehlo.slice"(%[[P]]#0){{.*}} -> tensor<3x4xf32>
  func.func private @left_alone(%x: tensor<9x4xf32>, %v: tensor<4xf32>, %p: tensor<i1>) -> (tensor<8x4xf32>, tensor<9x4xf32>, tensor<5x4xf32>, tensor<3x2x4xf32>, tensor<2x4xf32>, tensor<9x4xf32>, tensor<5xf32>, tensor<3x4xf32>) {
    %0 = stablehlo.exponential %x : tensor<9x4xf32>
    %1 = stablehlo.slice %0 [1:9, 0:4] : (tensor<9x4xf32>) -> tensor<8x4xf32>
    %2 = stablehlo.slice %0 [0:8, 0:4] : (tensor<9x4xf32>) -> tensor<8x4xf32>
    %3 = stablehlo.subtract %1, %2 : tensor<8x4xf32>
    %4 = stablehlo.negate %x : tensor<9x4xf32>
    %5 = stablehlo.reverse %4, dims = [0] : tensor<9x4xf32>
    %6 = stablehlo.sine %x : tensor<9x4xf32>
    %7 = stablehlo.slice %6 [0:9:2, 0:4] : (tensor<9x4xf32>) -> tensor<5x4xf32>
    %8 = stablehlo.cosine %x : tensor<9x4xf32>
    %9 = stablehlo.reshape %8 : (tensor<9x4xf32>) -> tensor<3x3x4xf32>
    %10 = stablehlo.slice %9 [0:3, 1:3, 0:4] : (tensor<3x3x4xf32>) -> tensor<3x2x4xf32>
    %11 = stablehlo.tanh %x : tensor<9x4xf32>
    %12 = stablehlo.slice %11 [0:2, 0:4] : (tensor<9x4xf32>) -> tensor<2x4xf32>
    %13 = "stablehlo.if"(%p) ({
      stablehlo.return %11 : tensor<9x4xf32>
    }, {
      stablehlo.return %x : tensor<9x4xf32>
    }) : (tensor<i1>) -> tensor<9x4xf32>
    %14 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<9x4xf32>, tensor<4xf32>) -> tensor<9xf32>
    %15 = stablehlo.slice %14 [0:5] : (tensor<9xf32>) -> tensor<5xf32>
    %16:2 = "stablehlo.optimization_barrier"(%x, %v) : (tensor<9x4xf32>, tensor<4xf32>) -> (tensor<9x4xf32>, tensor<4xf32>)
    %17 = stablehlo.slice %16#0 [0:3, 0:4] : (tensor<9x4xf32>) -> tensor<3x4xf32>
    return %3, %5, %7, %10, %12, %13, %15, %17 : tensor<8x4xf32>, tensor<9x4xf32>, tensor<5x4xf32>, tensor<3x2x4xf32>, tensor<2x4xf32>, tensor<9x4xf32>, tensor<5xf32>, tensor<3x4xf32>
  }

  // The first ones of what is scattered into, along a dimension whose windows are of one element: what is
  // written behind is dropped. Not from the second on, and not along a window.
  // CHECK: sym_name = "scattered"
  // CHECK: "stablehlo.negate"({{.*}}) : (tensor<5x4xf32>)
  // CHECK: "stablehlo.scatter"({{.*}}
  // CHECK: (tensor<5x4xf32>, tensor<7x1xi32>, tensor<7x4xf32>) -> tensor<5x4xf32>
  // CHECK-COUNT-2: (tensor<9x4xf32>, tensor<7x1xi32>, tensor<7x4xf32>) -> tensor<9x4xf32>
  func.func private @scattered(%x: tensor<9x4xf32>, %at: tensor<7x1xi32>, %u: tensor<7x4xf32>) -> (tensor<5x4xf32>, tensor<8x4xf32>, tensor<9x3xf32>) {
    %0 = stablehlo.negate %x : tensor<9x4xf32>
    %1 = "stablehlo.scatter"(%0, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<9x4xf32>, tensor<7x1xi32>, tensor<7x4xf32>) -> tensor<9x4xf32>
    %2 = stablehlo.slice %1 [0:5, 0:4] : (tensor<9x4xf32>) -> tensor<5x4xf32>
    %3 = stablehlo.sine %x : tensor<9x4xf32>
    %4 = "stablehlo.scatter"(%3, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<9x4xf32>, tensor<7x1xi32>, tensor<7x4xf32>) -> tensor<9x4xf32>
    %5 = stablehlo.slice %4 [1:9, 0:4] : (tensor<9x4xf32>) -> tensor<8x4xf32>
    %6 = "stablehlo.scatter"(%3, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.multiply %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<9x4xf32>, tensor<7x1xi32>, tensor<7x4xf32>) -> tensor<9x4xf32>
    %7 = stablehlo.slice %6 [0:9, 0:3] : (tensor<9x4xf32>) -> tensor<9x3xf32>
    return %2, %5, %7 : tensor<5x4xf32>, tensor<8x4xf32>, tensor<9x3xf32>
  }
}
