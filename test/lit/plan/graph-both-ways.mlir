// A call that reads one value both by columns and by rows: made column by column, it has a copy by rows.
// RUN: %peak --graph %s | FileCheck %s
// CHECK: %[[X:[0-9]+]] = f64[8,6] exponential
// CHECK: %[[ROWS:[0-9]+]] = f64[8,6] relayout %[[X]]
// CHECK: f64[8,6] opaque %[[X]], %[[ROWS]]
func.func public @main(%a: tensor<8x6xf64>) -> tensor<8x6xf64> {
  %x = stablehlo.exponential %a : tensor<8x6xf64>
  %y = "stablehlo.custom_call"(%x, %x) <{call_target_name = "both_ways", api_version = 4 : i32, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]}> : (tensor<8x6xf64>, tensor<8x6xf64>) -> tensor<8x6xf64>
  return %y : tensor<8x6xf64>
}
