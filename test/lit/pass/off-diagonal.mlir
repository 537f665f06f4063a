// A matrix less its own diagonal is zero there, however often it is made. By another's it is not.
// RUN: %weir opt %s --pass=off-diagonal,dce | FileCheck %s
// RUN: %weir opt %s --pass=off-diagonal,dce --skip=off-diagonal | FileCheck %s --check-prefix=SKIP
// SKIP: "stablehlo.gather"

module {
  // CHECK: sym_name = "own"
  // CHECK-NOT: "stablehlo.gather"
  // CHECK: %[[NONE:.*]] = "stablehlo.subtract"(%arg0, %arg0)
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.select"(%{{.*}}, %[[NONE]], %arg0)
  // CHECK-NEXT: "func.return"(%[[R]])
  func.func public @own(%x: tensor<9x9xf32>) -> tensor<9x9xf32> {
    %i = stablehlo.iota dim = 0 : tensor<9xi32>
    %c = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
    %at = stablehlo.concatenate %c, %c, dim = 1 : (tensor<9x1xi32>, tensor<9x1xi32>) -> tensor<9x2xi32>
    %d = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<9x9xf32>, tensor<9x2xi32>) -> tensor<9xf32>
    %rows = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %columns = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %eye = stablehlo.compare EQ, %rows, %columns, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %zero = stablehlo.constant dense<0.0> : tensor<9x9xf32>
    %wide = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<9xf32>) -> tensor<9x9xf32>
    %masked = stablehlo.select %eye, %wide, %zero : tensor<9x9xi1>, tensor<9x9xf32>
    %r = stablehlo.subtract %x, %masked : tensor<9x9xf32>
    return %r : tensor<9x9xf32>
  }

  // CHECK: sym_name = "anothers"
  // CHECK: "stablehlo.gather"(%arg1,
  // CHECK: "stablehlo.subtract"(%arg0,
  func.func public @anothers(%x: tensor<9x9xf32>, %y: tensor<9x9xf32>) -> tensor<9x9xf32> {
    %i = stablehlo.iota dim = 0 : tensor<9xi32>
    %c = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<9xi32>) -> tensor<9x1xi32>
    %at = stablehlo.concatenate %c, %c, dim = 1 : (tensor<9x1xi32>, tensor<9x1xi32>) -> tensor<9x2xi32>
    %d = "stablehlo.gather"(%y, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<9x9xf32>, tensor<9x2xi32>) -> tensor<9xf32>
    %rows = stablehlo.iota dim = 0 : tensor<9x9xi32>
    %columns = stablehlo.iota dim = 1 : tensor<9x9xi32>
    %eye = stablehlo.compare EQ, %rows, %columns, SIGNED : (tensor<9x9xi32>, tensor<9x9xi32>) -> tensor<9x9xi1>
    %zero = stablehlo.constant dense<0.0> : tensor<9x9xf32>
    %wide = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<9xf32>) -> tensor<9x9xf32>
    %masked = stablehlo.select %eye, %wide, %zero : tensor<9x9xi1>, tensor<9x9xf32>
    %r = stablehlo.subtract %x, %masked : tensor<9x9xf32>
    return %r : tensor<9x9xf32>
  }
}
