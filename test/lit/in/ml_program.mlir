// Globals of ml_program, as torch-mlir prints them, are kept: the same module from the generic form.
// RUN: %weir opt %s --pass=dce | FileCheck %s
// RUN: %weir opt %s --pass=dce > %t && %weir opt %t --pass=dce | diff %t -
// RUN: %weir plan %s --memory-limit 1MB | FileCheck %s --check-prefix=PLAN

module {
  // CHECK: "ml_program.global"() <{is_mutable, sym_name = "seed", sym_visibility = "private", type = tensor<i64>, value = dense<0> : tensor<i64>}> : () -> ()
  ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
  // CHECK: "ml_program.global"() <{sym_name = "given", type = tensor<2xf32>}> : () -> ()
  ml_program.global @given : tensor<2xf32>
  // PLAN: peak
  func.func @main(%x: tensor<i64>) -> tensor<i64> {
    // CHECK: %[[S:.*]] = "ml_program.global_load"() <{global = @seed}> : () -> tensor<i64>
    %0 = ml_program.global_load @seed : tensor<i64>
    %1 = stablehlo.add %0, %x : tensor<i64>
    // CHECK: %[[T:.*]] = "stablehlo.add"(%[[S]], %arg0)
    // CHECK: "ml_program.global_store"(%[[T]]) <{global = @seed}> : (tensor<i64>) -> ()
    ml_program.global_store @seed = %1 : tensor<i64>
    // CHECK: "ml_program.global_load_const"() <{global = @given}> {note} : () -> tensor<2xf32>
    %2 = ml_program.global_load_const @given {note} : tensor<2xf32>
    return %1 : tensor<i64>
  }
}
