// What is no batch dimension of a LAPACK call stays whole, and so does what the table of calls does not have
// (ir/lapack.def): the dimensions of a matrix, targets that nobody knows or of other types, operands and results that
// do not share their batch, more results than the routine has. Only a solve's right-hand sides are split.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      "weir.loop"
// CHECK:      lapack_strsm_ffi{{.*}} : (tensor<8x8xf32>, tensor<8x1xf32>) ->
// CHECK:      lapack_spotrf_ffi{{.*}} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<i32>)
// CHECK:      lapack_spotrq_ffi{{.*}} : (tensor<8x8x8xf32>) ->
// CHECK:      lapack_sheevd_ffi{{.*}} : (tensor<8x8x8xf32>) ->
// CHECK:      lapack_sgetrf_ffi{{.*}} : (tensor<8x8x8xf32>) ->
// CHECK:      lapack_sgeqrf_ffi{{.*}} : (tensor<8x8x8xf32>) ->
func.func public @main(%x: tensor<8x8xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.multiply %x, %x : tensor<8x8xf32>
  %r = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<8x8xf32>) -> tensor<8x8x8xf32>
  %c = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<8x8xf32>) -> tensor<8x8x8xf32>
  %a = stablehlo.multiply %r, %c : tensor<8x8x8xf32>
  %one:2 = stablehlo.custom_call @lapack_spotrf_ffi(%m) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<i32>)
  %s = stablehlo.reduce(%one#0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
  %unknown:2 = stablehlo.custom_call @lapack_spotrq_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8xi32>)
  %t = stablehlo.reduce(%unknown#0 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x8x8xf32>, tensor<f32>) -> tensor<f32>
  %real:3 = stablehlo.custom_call @lapack_sheevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8xf32>, tensor<8xi32>)
  %u = stablehlo.reduce(%real#0 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x8x8xf32>, tensor<f32>) -> tensor<f32>
  %less:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8xi32>, tensor<4xi32>)
  %v = stablehlo.reduce(%less#0 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<8x8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %more:3 = stablehlo.custom_call @lapack_sgeqrf_ffi(%a) {mhlo.backend_config = {}} : (tensor<8x8x8xf32>) -> (tensor<8x8x8xf32>, tensor<8x8xf32>, tensor<8xi32>)
  %w = stablehlo.reduce(%more#0 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<8x8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %k = stablehlo.exponential %m : tensor<8x8xf32>
  %solved = stablehlo.custom_call @lapack_strsm_ffi(%x, %k) {mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = stablehlo.reduce(%solved init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %s, %t, %u, %v, %w, %y : tensor<f32>, tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
