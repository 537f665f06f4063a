// Right-hand sides that are products of small matrices with what is long: only the small ones are solved for.
// RUN: %weir opt %s --pass=solve,dce | FileCheck %s

module {
  // What solves for m x / s - c y^T: that of m and that of c; m^T for m. JAX's call, and the op.
  // CHECK: sym_name = "products"
  // CHECK: %[[C:[0-9]+]] = "stablehlo.reshape"(%arg3) : (tensor<200xf64>) -> tensor<200x1xf64>
  // CHECK-NEXT: %[[SC:[0-9]+]] = "stablehlo.custom_call"(%arg0, %[[C]]) {{.*}} (tensor<200x200xf64>, tensor<200x1xf64>) -> tensor<200x1xf64>
  // CHECK-NEXT: %[[V:[0-9]+]] = "stablehlo.reshape"(%[[SC]]) : (tensor<200x1xf64>) -> tensor<200xf64>
  // CHECK-NEXT: %[[CY:[0-9]+]] = "stablehlo.dot_general"(%[[V]], %arg4)
  // CHECK-NEXT: %[[SM:[0-9]+]] = "stablehlo.custom_call"(%arg0, %arg1) {{.*}} -> tensor<200x150xf64>
  // CHECK-NEXT: %[[MX:[0-9]+]] = "stablehlo.dot_general"(%[[SM]], %arg2)
  // CHECK: %[[D:[0-9]+]] = "stablehlo.divide"(%[[MX]]
  // CHECK-NEXT: %[[R:[0-9]+]] = "stablehlo.subtract"(%[[CY]], %[[D]])
  // CHECK: %[[T:[0-9]+]] = "stablehlo.transpose"(%arg6)
  // CHECK-NEXT: %[[ST:[0-9]+]] = "stablehlo.triangular_solve"(%arg0, %[[T]]) {{.*}} -> tensor<200x150xf64>
  // CHECK-NEXT: %[[Q:[0-9]+]] = "stablehlo.dot_general"(%[[ST]], %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
  // CHECK-NEXT: "func.return"(%[[R]], %[[Q]])
  func.func public @products(%a: tensor<200x200xf64>, %m: tensor<200x150xf64>, %x: tensor<150x1000xf64>, %c: tensor<200xf64>, %y: tensor<1000xf64>, %s: tensor<f64>, %t: tensor<150x200xf64>) -> (tensor<200x1000xf64>, tensor<200x1000xf64>) {
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<200x150xf64>, tensor<150x1000xf64>) -> tensor<200x1000xf64>
    %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f64>) -> tensor<200x1000xf64>
    %2 = stablehlo.divide %0, %1 : tensor<200x1000xf64>
    %3 = stablehlo.dot_general %c, %y, contracting_dims = [] x [] : (tensor<200xf64>, tensor<1000xf64>) -> tensor<200x1000xf64>
    %4 = stablehlo.subtract %3, %2 : tensor<200x1000xf64>
    %5 = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %4) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<200x200xf64>, tensor<200x1000xf64>) -> tensor<200x1000xf64>
    %6 = stablehlo.dot_general %t, %x, contracting_dims = [0] x [0] : (tensor<150x200xf64>, tensor<150x1000xf64>) -> tensor<200x1000xf64>
    %7 = "stablehlo.triangular_solve"(%a, %6) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<200x200xf64>, tensor<200x1000xf64>) -> tensor<200x1000xf64>
    return %5, %7 : tensor<200x1000xf64>, tensor<200x1000xf64>
  }

  // In blocks, though a product: it is read by others, too; it is wider than the triangle.
  // CHECK: sym_name = "in_blocks"
  // CHECK-COUNT-2: "stablehlo.concatenate"
  func.func public @in_blocks(%a: tensor<200x200xf64>, %m: tensor<200x150xf64>, %x: tensor<150x1000xf64>, %w: tensor<200x300xf64>, %z: tensor<300x1000xf64>) -> (tensor<200x1000xf64>, tensor<200x1000xf64>, tensor<200x1000xf64>) {
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<200x150xf64>, tensor<150x1000xf64>) -> tensor<200x1000xf64>
    %1 = "stablehlo.triangular_solve"(%a, %0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<200x200xf64>, tensor<200x1000xf64>) -> tensor<200x1000xf64>
    %2 = stablehlo.dot_general %w, %z, contracting_dims = [1] x [0] : (tensor<200x300xf64>, tensor<300x1000xf64>) -> tensor<200x1000xf64>
    %3 = "stablehlo.triangular_solve"(%a, %2) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<200x200xf64>, tensor<200x1000xf64>) -> tensor<200x1000xf64>
    return %0, %1, %3 : tensor<200x1000xf64>, tensor<200x1000xf64>, tensor<200x1000xf64>
  }
}
