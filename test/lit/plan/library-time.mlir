// LAPACK's calls are a part of what a program takes as stock XLA runs it.
// RUN: %weir opt %s --memory-limit 1TB --tile auto --machine x86-64-v4 --debug 4 -o /dev/null 2>&1 | FileCheck %s

// CHECK: as it came: 12.14 ms predicted
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40x8x8xf32>, %arg1: tensor<40x8x20000xf32>) -> (tensor<40x8x20000xf32> {jax.result_info = "result"}) {
    %0 = call @_solve_triangular(%arg0, %arg1) : (tensor<40x8x8xf32>, tensor<40x8x20000xf32>) -> tensor<40x8x20000xf32>
    return %0 : tensor<40x8x20000xf32>
  }
  func.func private @_solve_triangular(%arg0: tensor<40x8x8xf32>, %arg1: tensor<40x8x20000xf32>) -> tensor<40x8x20000xf32> {
    %0 = stablehlo.custom_call @lapack_strsm_ffi(%arg0, %arg1) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=40, j=8, k=8, l=8, m=20000, n=8, o=20000}, custom>} : (tensor<40x8x8xf32>, tensor<40x8x20000xf32>) -> tensor<40x8x20000xf32>
    return %0 : tensor<40x8x20000xf32>
  }
}
