// A call that says that a result lies in an operand that it does not have: as one that says nothing.
// RUN: %weir opt %s --memory-limit 1000 | FileCheck %s
// CHECK: operand_index = 9
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "f", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 9, operand_tuple_indices = []>]}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
