// Calls of LAPACK whose matrix, right-hand sides and result are not of sizes that go together are left
// to XLA, which refuses them.
// RUN: %weir opt %s --pass=solve,by-rows | FileCheck %s

// CHECK: sym_name = "rows"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<40x40xf32>, tensor<30x9000xf32>) -> tensor<30x9000xf32>
func.func public @rows(%a: tensor<40x40xf32>, %b: tensor<30x9000xf32>) -> tensor<30x9000xf32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<40x40xf32>, tensor<30x9000xf32>) -> tensor<30x9000xf32>
  return %x : tensor<30x9000xf32>
}

// CHECK: sym_name = "matrix"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<30x30xf32>, tensor<40x9000xf32>) -> tensor<40x9000xf32>
func.func public @matrix(%a: tensor<30x30xf32>, %b: tensor<40x9000xf32>) -> tensor<40x9000xf32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<30x30xf32>, tensor<40x9000xf32>) -> tensor<40x9000xf32>
  return %x : tensor<40x9000xf32>
}

// CHECK: sym_name = "square"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<40x50xf32>, tensor<50x9000xf32>) -> tensor<50x9000xf32>
func.func public @square(%a: tensor<40x50xf32>, %b: tensor<50x9000xf32>) -> tensor<50x9000xf32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<40x50xf32>, tensor<50x9000xf32>) -> tensor<50x9000xf32>
  return %x : tensor<50x9000xf32>
}

// CHECK: sym_name = "vector"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<40xf32>, tensor<40x9000xf32>) -> tensor<40x9000xf32>
func.func public @vector(%a: tensor<40xf32>, %b: tensor<40x9000xf32>) -> tensor<40x9000xf32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<40xf32>, tensor<40x9000xf32>) -> tensor<40x9000xf32>
  return %x : tensor<40x9000xf32>
}

// CHECK: sym_name = "numbers"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
func.func public @numbers(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %x : tensor<f32>
}

// CHECK: sym_name = "ranks"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<2x9x9xf32>, tensor<9x9000xf32>) -> tensor<9x9000xf32>
func.func public @ranks(%a: tensor<2x9x9xf32>, %b: tensor<9x9000xf32>) -> tensor<9x9000xf32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<2x9x9xf32>, tensor<9x9000xf32>) -> tensor<9x9000xf32>
  return %x : tensor<9x9000xf32>
}

// CHECK: sym_name = "batches"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<2x9x9xf32>, tensor<3x9x9000xf32>) -> tensor<3x9x9000xf32>
func.func public @batches(%a: tensor<2x9x9xf32>, %b: tensor<3x9x9000xf32>) -> tensor<3x9x9000xf32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<2x9x9xf32>, tensor<3x9x9000xf32>) -> tensor<3x9x9000xf32>
  return %x : tensor<3x9x9000xf32>
}

// CHECK: sym_name = "result"
// CHECK-NOT: dot_general
// CHECK: "stablehlo.custom_call"({{.*}} : (tensor<40x40xf32>, tensor<40x9000xf32>) -> tensor<40x10xf32>
func.func public @result(%a: tensor<40x40xf32>, %b: tensor<40x9000xf32>) -> tensor<40x10xf32> {
  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<40x40xf32>, tensor<40x9000xf32>) -> tensor<40x10xf32>
  return %x : tensor<40x10xf32>
}
