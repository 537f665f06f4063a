// A triangular matrix with many right-hand sides: halves, down to blocks of at most 128 rows whose inverses are solved for.
// RUN: %weir opt %s --pass=solve,dce | FileCheck %s
// RUN: %weir opt %s --pass=solve,dce --tensor-size-threshold 10MB | FileCheck %s --check-prefix SMALL
// RUN: %weir opt %s --pass=solve,dce --platform cuda | FileCheck %s --check-prefix CARD

// On a card products of f32 would round it to fewer bits first.
// CARD: sym_name = "lower"
// CARD: "stablehlo.dot_general"
// CARD: sym_name = "transposed"
// CARD-NOT: "stablehlo.dot_general"
// CARD: "stablehlo.custom_call"
// CARD-NEXT: "func.return"

// Right-hand sides below the threshold stay as they are, too.
// SMALL-NOT: "stablehlo.dot_general"
// SMALL: "func.return"
// SMALL-NOT: "stablehlo.dot_general"

module {
  // CHECK: sym_name = "lower"
  // CHECK: %[[B1:[0-9]+]] = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 104, 1000>, start_indices = array<i64: 0, 0>
  // CHECK: %[[A1:[0-9]+]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 104, 104>, start_indices = array<i64: 0, 0>
  // CHECK: %[[ONE:[0-9]+]] = "stablehlo.convert"(%{{[0-9]+}}) : (tensor<104x104xi1>) -> tensor<104x104xf64>
  // CHECK: %[[I1:[0-9]+]] = "stablehlo.triangular_solve"(%[[A1]], %[[ONE]]) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
  // CHECK: %[[X1:[0-9]+]] = "stablehlo.dot_general"(%[[I1]], %[[B1]])
  // CHECK: %[[B2:[0-9]+]] = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 200, 1000>, start_indices = array<i64: 104, 0>
  // CHECK: %[[A2:[0-9]+]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 200, 104>, start_indices = array<i64: 104, 0>
  // CHECK: %[[Y:[0-9]+]] = "stablehlo.dot_general"(%[[A2]], %[[X1]])
  // CHECK: %[[R:[0-9]+]] = "stablehlo.subtract"(%[[B2]], %[[Y]])
  // CHECK: %[[I2:[0-9]+]] = "stablehlo.triangular_solve"
  // CHECK: %[[X2:[0-9]+]] = "stablehlo.dot_general"(%[[I2]], %[[R]])
  // CHECK: %[[X:[0-9]+]] = "stablehlo.concatenate"(%[[X1]], %[[X2]]) <{dimension = 0 : i64}>
  // CHECK: "func.return"(%[[X]])
  func.func public @lower(%a: tensor<200x200xf64>, %b: tensor<200x1000xf64>) -> tensor<200x1000xf64> {
    %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<200x200xf64>, tensor<200x1000xf64>) -> tensor<200x1000xf64>
    return %0 : tensor<200x1000xf64>
  }

  // From below, with the block beside it transposed: JAX's call on CPU.
  // CHECK: sym_name = "transposed"
  // CHECK-NOT: custom_call
  // CHECK: %[[X2:[0-9]+]] = "stablehlo.dot_general"
  // CHECK: %[[Y:[0-9]+]] = "stablehlo.dot_general"(%{{[0-9]+}}, %[[X2]]) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<96x104xf32>, tensor<96x1000xf32>) -> tensor<104x1000xf32>
  // CHECK: "stablehlo.triangular_solve"(%{{[0-9]+}}, %{{[0-9]+}}) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}>
  // CHECK: %[[X1:[0-9]+]] = "stablehlo.dot_general"
  // CHECK: "stablehlo.concatenate"(%[[X1]], %[[X2]])
  func.func public @transposed(%a: tensor<200x200xf32>, %b: tensor<200x1000xf32>) -> tensor<200x1000xf32> {
    %0 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<200x200xf32>, tensor<200x1000xf32>) -> tensor<200x1000xf32>
    return %0 : tensor<200x1000xf32>
  }

  // A triangle for each of two matrices; one of few rows.
  // CHECK: sym_name = "batch"
  // CHECK: %[[A1:[0-9]+]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 104, 104>, start_indices = array<i64: 0, 0, 0>
  // CHECK: %[[I1:[0-9]+]] = "stablehlo.triangular_solve"(%[[A1]], %{{[0-9]+}})
  // CHECK: "stablehlo.dot_general"(%[[I1]], %{{[0-9]+}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>
  // CHECK: "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 200, 104>, start_indices = array<i64: 0, 104, 0>
  // CHECK: "stablehlo.concatenate"({{.*}}) <{dimension = 1 : i64}>
  // CHECK: %[[I:[0-9]+]] = "stablehlo.triangular_solve"({{.*}}) -> tensor<2x2xf64>
  // CHECK: "stablehlo.dot_general"(%[[I]], %arg3)
  func.func public @batch(%e: tensor<2x200x200xf64>, %f: tensor<2x200x1000xf64>, %g: tensor<2x2xf64>, %h: tensor<2x1000xf64>) -> (tensor<2x200x1000xf64>, tensor<2x1000xf64>) {
    %0 = "stablehlo.triangular_solve"(%e, %f) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x200x200xf64>, tensor<2x200x1000xf64>) -> tensor<2x200x1000xf64>
    %1 = "stablehlo.triangular_solve"(%g, %h) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf64>, tensor<2x1000xf64>) -> tensor<2x1000xf64>
    return %0, %1 : tensor<2x200x1000xf64>, tensor<2x1000xf64>
  }

  // Left alone: from the right, few right-hand sides, complex, one row.
  // CHECK: sym_name = "left"
  // CHECK-COUNT-4: "stablehlo.triangular_solve"
  // CHECK-NOT: "stablehlo.dot_general"
  func.func public @left(%a: tensor<200x200xf64>, %b: tensor<1000x200xf64>, %few: tensor<200x700xf64>, %c: tensor<200x200xcomplex<f64>>, %d: tensor<200x1000xcomplex<f64>>, %g: tensor<1x1xf64>, %h: tensor<1x1000xf64>) -> (tensor<1000x200xf64>, tensor<200x700xf64>, tensor<200x1000xcomplex<f64>>, tensor<1x1000xf64>) {
    %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<200x200xf64>, tensor<1000x200xf64>) -> tensor<1000x200xf64>
    %1 = "stablehlo.triangular_solve"(%a, %few) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<200x200xf64>, tensor<200x700xf64>) -> tensor<200x700xf64>
    %2 = "stablehlo.triangular_solve"(%c, %d) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<200x200xcomplex<f64>>, tensor<200x1000xcomplex<f64>>) -> tensor<200x1000xcomplex<f64>>
    %3 = "stablehlo.triangular_solve"(%g, %h) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<1x1xf64>, tensor<1x1000xf64>) -> tensor<1x1000xf64>
    return %0, %1, %2, %3 : tensor<1000x200xf64>, tensor<200x700xf64>, tensor<200x1000xcomplex<f64>>, tensor<1x1000xf64>
  }
}
