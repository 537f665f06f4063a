// Batches of JAX's LAPACK calls: all operands and results are sliced, matrices stay whole; attributes stay, but for
// the sharding rule, which names sizes. An uneven last slice; slices of one matrix; a batch of two dimensions.
// RUN: %weir opt %s --tensor-size-threshold 400 --tensor-split-size 300 --stop-after split | FileCheck %s

// CHECK:      "weir.loop"
// CHECK:      %[[A:[a-z0-9]+]] = "stablehlo.multiply"{{.*}} -> tensor<3x5x5xf32>
// CHECK-NOT:  sdy.sharding_rule
// CHECK:      "stablehlo.custom_call"(%[[A]])
// CHECK-SAME: call_target_name = "lapack_sgetrf_ffi"
// CHECK-SAME: operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]
// CHECK-SAME: output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]
// CHECK-SAME: result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]
// CHECK-SAME: mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}
// CHECK-SAME: : (tensor<3x5x5xf32>) -> (tensor<3x5x5xf32>, tensor<3x5xi32>, tensor<3xi32>)
// CHECK-NOT:  sdy.sharding_rule
// CHECK:      extent = 7 : i64
// CHECK-SAME: slice = 3 : i64

// CHECK:      "weir.loop"
// CHECK:      call_target_name = "lapack_dtrsm_ffi"
// CHECK-SAME: : (tensor<1x5x5xf64>, tensor<1x5x1xf64>) -> tensor<1x5x1xf64>
// CHECK:      extent = 7 : i64
// CHECK-SAME: slice = 1 : i64

// CHECK:      "weir.loop"
// CHECK:      call_target_name = "lapack_sgesdd_ffi"
// CHECK-SAME: mhlo.backend_config = {mode = 78 : ui8}
// CHECK-SAME: : (tensor<[[I:[0-9]+]]x[[J:[0-9]+]]x5x5xf32>) -> (tensor<[[I]]x[[J]]x5x5xf32>, tensor<[[I]]x[[J]]x5xf32>, tensor<[[I]]x[[J]]x5x5xf32>, tensor<[[I]]x[[J]]x5x5xf32>, tensor<[[I]]x[[J]]xi32>)
// CHECK:      "func.return"
func.func public @main(%x: tensor<7x5xf32>, %y: tensor<3x4x5xf32>, %z: tensor<7x5xf64>) -> (tensor<7xf32>, tensor<7xi32>, tensor<7xi32>, tensor<3x4x5xf32>, tensor<7xf64>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<7x5xf32>) -> tensor<7x5x5xf32>
  %c = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<7x5xf32>) -> tensor<7x5x5xf32>
  %a = stablehlo.multiply %r, %c : tensor<7x5x5xf32>
  %lu:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=7, j=5, k=5, l=5, m=5, n=5}, custom>} : (tensor<7x5x5xf32>) -> (tensor<7x5x5xf32>, tensor<7x5xi32>, tensor<7xi32>)
  %s = stablehlo.reduce(%lu#0 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<7x5x5xf32>, tensor<f32>) -> tensor<7xf32>
  %p = stablehlo.reduce(%lu#1 init: %none) applies stablehlo.maximum across dimensions = [1] : (tensor<7x5xi32>, tensor<i32>) -> tensor<7xi32>
  %r2 = stablehlo.broadcast_in_dim %y, dims = [0, 1, 2] : (tensor<3x4x5xf32>) -> tensor<3x4x5x5xf32>
  %c2 = stablehlo.broadcast_in_dim %y, dims = [0, 1, 3] : (tensor<3x4x5xf32>) -> tensor<3x4x5x5xf32>
  %a2 = stablehlo.multiply %r2, %c2 : tensor<3x4x5x5xf32>
  %svd:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a2) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "2"}, operand_layouts = [dense<[2, 3, 1, 0]> : tensor<4xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[2, 3, 1, 0]> : tensor<4xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[2, 3, 1, 0]> : tensor<4xindex>, dense<[2, 3, 1, 0]> : tensor<4xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<3x4x5x5xf32>) -> (tensor<3x4x5x5xf32>, tensor<3x4x5xf32>, tensor<3x4x5x5xf32>, tensor<3x4x5x5xf32>, tensor<3x4xi32>)
  %zero64 = stablehlo.constant dense<0.0> : tensor<f64>
  %r3 = stablehlo.broadcast_in_dim %z, dims = [0, 1] : (tensor<7x5xf64>) -> tensor<7x5x5xf64>
  %c3 = stablehlo.broadcast_in_dim %z, dims = [0, 2] : (tensor<7x5xf64>) -> tensor<7x5x5xf64>
  %a3 = stablehlo.multiply %r3, %c3 : tensor<7x5x5xf64>
  %b3 = stablehlo.reshape %z : (tensor<7x5xf64>) -> tensor<7x5x1xf64>
  %t = stablehlo.custom_call @lapack_dtrsm_ffi(%a3, %b3) {backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>]} : (tensor<7x5x5xf64>, tensor<7x5x1xf64>) -> tensor<7x5x1xf64>
  %u = stablehlo.reduce(%t init: %zero64) applies stablehlo.add across dimensions = [1, 2] : (tensor<7x5x1xf64>, tensor<f64>) -> tensor<7xf64>
  return %s, %p, %lu#2, %svd#1, %u : tensor<7xf32>, tensor<7xi32>, tensor<7xi32>, tensor<3x4x5xf32>, tensor<7xf64>
}
