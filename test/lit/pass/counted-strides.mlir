// RUN: %weir opt %s --pass=counted | FileCheck %s
// Every s-th index along two dimensions that indices name: strided slices and pads.

// CHECK-LABEL: sym_name = "put"
// CHECK-NOT: "stablehlo.scatter"
// CHECK: %[[U:.*]] = "stablehlo.pad"(%arg1, %{{.*}}) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 1, 2>}> : (tensor<3x3xf32>, tensor<f32>) -> tensor<6x7xf32>
// CHECK: "stablehlo.select"(%{{.*}}, %[[U]], %arg0)
func.func @put(%x: tensor<6x7xf32>, %u: tensor<3x3xf32>) -> tensor<6x7xf32> {
  %c = stablehlo.iota dim = 0 : tensor<3xi32>
  %two = stablehlo.constant dense<2> : tensor<3xi32>
  %three = stablehlo.constant dense<3> : tensor<3xi32>
  %one = stablehlo.constant dense<1> : tensor<3xi32>
  %a = stablehlo.multiply %two, %c : tensor<3xi32>
  %b = stablehlo.add %one, %a : tensor<3xi32>
  %d = stablehlo.multiply %c, %three : tensor<3xi32>
  %i = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<3xi32>) -> tensor<3x3x1xi32>
  %j = stablehlo.broadcast_in_dim %d, dims = [1] : (tensor<3xi32>) -> tensor<3x3x1xi32>
  %at = stablehlo.concatenate %i, %j, dim = 2 : (tensor<3x3x1xi32>, tensor<3x3x1xi32>) -> tensor<3x3x2xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<6x7xf32>, tensor<3x3x2xi32>, tensor<3x3xf32>) -> tensor<6x7xf32>
  return %y : tensor<6x7xf32>
}

// What is added beside the updates is -0; a maximum is taken where they are alone.
// CHECK-LABEL: sym_name = "combined"
// CHECK-NOT: "stablehlo.scatter"
// CHECK: dense<-0.000000e+00>
// CHECK: %[[U:.*]] = "stablehlo.pad"(%arg1
// CHECK: "stablehlo.add"(%arg0, %[[U]])
// CHECK: "stablehlo.maximum"(%arg0
// CHECK: "stablehlo.select"
func.func @combined(%x: tensor<6x2xf32>, %u: tensor<3x2xf32>) -> (tensor<6x2xf32>, tensor<6x2xf32>) {
  %c = stablehlo.iota dim = 0 : tensor<3xi32>
  %two = stablehlo.constant dense<2> : tensor<3xi32>
  %a = stablehlo.multiply %two, %c : tensor<3xi32>
  %at = stablehlo.reshape %a : (tensor<3xi32>) -> tensor<3x1xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  %z = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<6x2xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<6x2xf32>
  return %y, %z : tensor<6x2xf32>, tensor<6x2xf32>
}

// The second dimension of the result is the first of x.
// CHECK-LABEL: sym_name = "read"
// CHECK-NOT: "stablehlo.gather"
// CHECK: %[[S:.*]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 6, 4>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 3>}> : (tensor<6x7xf32>) -> tensor<3x2xf32>
// CHECK: "stablehlo.transpose"(%[[S]])
func.func @read(%x: tensor<6x7xf32>) -> tensor<2x3xf32> {
  %c = stablehlo.iota dim = 0 : tensor<3xi32>
  %e = stablehlo.iota dim = 0 : tensor<2xi32>
  %two = stablehlo.constant dense<2> : tensor<3xi32>
  %three = stablehlo.constant dense<3> : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<3xi32>
  %a = stablehlo.multiply %two, %c : tensor<3xi32>
  %b = stablehlo.add %one, %a : tensor<3xi32>
  %d = stablehlo.multiply %e, %three : tensor<2xi32>
  %i = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xi32>) -> tensor<2x3x1xi32>
  %j = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<2xi32>) -> tensor<2x3x1xi32>
  %at = stablehlo.concatenate %i, %j, dim = 2 : (tensor<2x3x1xi32>, tensor<2x3x1xi32>) -> tensor<2x3x2xi32>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x7xf32>, tensor<2x3x2xi32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Beyond the end; one index for both dimensions, a diagonal. Every index twice is a broadcast.
// CHECK-LABEL: sym_name = "left_alone"
// CHECK-COUNT-2: "stablehlo.gather"
// CHECK-NOT: "stablehlo.gather"
// CHECK: "stablehlo.broadcast_in_dim"{{.*}} (tensor<3x5xf32>) -> tensor<2x3x5xf32>
func.func @left_alone(%x: tensor<5x5xf32>) -> (tensor<3x5xf32>, tensor<3xf32>, tensor<2x3x5xf32>) {
  %c = stablehlo.iota dim = 0 : tensor<3xi32>
  %two = stablehlo.constant dense<2> : tensor<3xi32>
  %one = stablehlo.constant dense<1> : tensor<3xi32>
  %a = stablehlo.multiply %two, %c : tensor<3xi32>
  %b = stablehlo.add %one, %a : tensor<3xi32>
  %at = stablehlo.reshape %b : (tensor<3xi32>) -> tensor<3x1xi32>
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>}> : (tensor<5x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
  %i = stablehlo.reshape %a : (tensor<3xi32>) -> tensor<3x1xi32>
  %both = stablehlo.concatenate %i, %i, dim = 1 : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  %1 = "stablehlo.gather"(%x, %both) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x5xf32>, tensor<3x2xi32>) -> tensor<3xf32>
  %j = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xi32>) -> tensor<2x3x1xi32>
  %2 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 5>}> : (tensor<5x5xf32>, tensor<2x3x1xi32>) -> tensor<2x3x5xf32>
  return %0, %1, %2 : tensor<3x5xf32>, tensor<3xf32>, tensor<2x3x5xf32>
}

// The step of one index alone may be beyond any dimension.
// CHECK-LABEL: sym_name = "far"
// CHECK-NOT: "stablehlo.scatter"
// CHECK: stablehlo.constant{{.*}}dense<1> : tensor<6xi32>
// CHECK-NOT: "stablehlo.remainder"{{.*}}tensor<6xi32>
func.func @far(%x: tensor<6x7xf32>, %u: tensor<1x3xf32>) -> tensor<6x7xf32> {
  %c1 = stablehlo.iota dim = 0 : tensor<1xi64>
  %c = stablehlo.iota dim = 0 : tensor<3xi64>
  %far = stablehlo.constant dense<4294967296> : tensor<1xi64>
  %two = stablehlo.constant dense<2> : tensor<3xi64>
  %a = stablehlo.multiply %c1, %far : tensor<1xi64>
  %d = stablehlo.multiply %c, %two : tensor<3xi64>
  %i = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1xi64>) -> tensor<1x3x1xi64>
  %j = stablehlo.broadcast_in_dim %d, dims = [1] : (tensor<3xi64>) -> tensor<1x3x1xi64>
  %at = stablehlo.concatenate %i, %j, dim = 2 : (tensor<1x3x1xi64>, tensor<1x3x1xi64>) -> tensor<1x3x2xi64>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<6x7xf32>, tensor<1x3x2xi64>, tensor<1x3xf32>) -> tensor<6x7xf32>
  return %y : tensor<6x7xf32>
}

// Floats of a byte, of which some have no -0: sums are taken where the updates are.
// CHECK-LABEL: sym_name = "narrow"
// CHECK-NOT: "stablehlo.scatter"
// CHECK: "stablehlo.pad"
// CHECK: %[[SUM:.*]] = "stablehlo.add"(%arg0
// CHECK: "stablehlo.select"(%{{.*}}, %[[SUM]], %arg0)
func.func @narrow(%x: tensor<6x7xf8E4M3FNUZ>, %u: tensor<1x3xf8E4M3FNUZ>) -> tensor<6x7xf8E4M3FNUZ> {
  %c1 = stablehlo.iota dim = 0 : tensor<1xi64>
  %c = stablehlo.iota dim = 0 : tensor<3xi64>
  %far = stablehlo.constant dense<2> : tensor<1xi64>
  %two = stablehlo.constant dense<2> : tensor<3xi64>
  %a = stablehlo.multiply %c1, %far : tensor<1xi64>
  %d = stablehlo.multiply %c, %two : tensor<3xi64>
  %i = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<1xi64>) -> tensor<1x3x1xi64>
  %j = stablehlo.broadcast_in_dim %d, dims = [1] : (tensor<3xi64>) -> tensor<1x3x1xi64>
  %at = stablehlo.concatenate %i, %j, dim = 2 : (tensor<1x3x1xi64>, tensor<1x3x1xi64>) -> tensor<1x3x2xi64>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f8E4M3FNUZ>, %q: tensor<f8E4M3FNUZ>):
    %z = stablehlo.add %p, %q : tensor<f8E4M3FNUZ>
    stablehlo.return %z : tensor<f8E4M3FNUZ>
  }) : (tensor<6x7xf8E4M3FNUZ>, tensor<1x3x2xi64>, tensor<1x3xf8E4M3FNUZ>) -> tensor<6x7xf8E4M3FNUZ>
  return %y : tensor<6x7xf8E4M3FNUZ>
}
