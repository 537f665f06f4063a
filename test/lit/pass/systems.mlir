// Whether a tridiagonal matrix has factors is asked with one column; the solve stays for x alone.
// RUN: %weir opt %s --pass=systems | FileCheck %s

module {
  // CHECK: sym_name = "columns"
  // CHECK: %[[ZERO:.*]] = "stablehlo.broadcast_in_dim"({{.*}} : (tensor<f32>) -> tensor<9x1xf32>
  // CHECK: %[[ONE:.*]]:5 = "stablehlo.custom_call"(%arg0, %arg1, %arg2, %[[ZERO]])
  // CHECK-SAME: -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9x1xf32>, tensor<i32>)
  // CHECK: %[[ALL:.*]]:5 = "stablehlo.custom_call"(%arg0, %arg1, %arg2, %arg3)
  // CHECK: "func.return"(%[[ONE]]#1, %[[ALL]]#3, %[[ONE]]#4)
  func.func @columns(%l: tensor<9xf32>, %d: tensor<9xf32>, %u: tensor<9xf32>, %b: tensor<9x7xf32>) -> (tensor<9xf32>, tensor<9x7xf32>, tensor<i32>) {
    %0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%l, %d, %u, %b) {operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9x7xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9x7xf32>, tensor<i32>)
    return %0#1, %0#3, %0#4 : tensor<9xf32>, tensor<9x7xf32>, tensor<i32>
  }

  // A single column, and a matrix of which nothing is asked, stay as they are.
  // CHECK: sym_name = "alone"
  // CHECK-COUNT-2: custom_call
  // CHECK-NOT: custom_call
  func.func @alone(%l: tensor<9xf32>, %d: tensor<9xf32>, %u: tensor<9xf32>, %b: tensor<9x7xf32>, %c: tensor<9x1xf32>) -> (tensor<9x7xf32>, tensor<9x1xf32>, tensor<i32>) {
    %0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%l, %d, %u, %b) : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9x7xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9x7xf32>, tensor<i32>)
    %1:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%l, %d, %u, %c) : (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9x1xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9x1xf32>, tensor<i32>)
    return %0#3, %1#3, %1#4 : tensor<9x7xf32>, tensor<9x1xf32>, tensor<i32>
  }
}
