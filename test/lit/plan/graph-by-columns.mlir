// What a library call gives column by column is laid out anew, and so are the broadcasts beside it: what meets them is computed once, in
// memory, though both sums could take it in.
// RUN: %peak --graph %s | FileCheck %s
// CHECK: %[[M:[0-9]+]] = f64[8,6] fusion<multiply>
// CHECK: f64[8] reduce %[[M]]
// CHECK: f64[6] reduce %[[M]]
func.func public @main(%a: tensor<8x8xf64>, %b: tensor<8x6xf64>, %s: tensor<6xf64>) -> (tensor<8xf64>, tensor<6xf64>, tensor<8x6xf64>) {
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %x, %info = "stablehlo.custom_call"(%b) <{call_target_name = "by_columns", api_version = 4 : i32, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}> : (tensor<8x6xf64>) -> (tensor<8x6xf64>, tensor<i32>)
  %x1 = stablehlo.negate %x : tensor<8x6xf64>
  %x2 = stablehlo.abs %x1 : tensor<8x6xf64>
  %x3 = stablehlo.negate %x2 : tensor<8x6xf64>
  %t = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<6xf64>) -> tensor<8x6xf64>
  %m = stablehlo.multiply %x3, %t : tensor<8x6xf64>
  %r = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x6xf64>, tensor<f64>) -> tensor<8xf64>
  %q = stablehlo.reduce(%m init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<8x6xf64>, tensor<f64>) -> tensor<6xf64>
  return %r, %q, %m : tensor<8xf64>, tensor<6xf64>, tensor<8x6xf64>
}
