// Rows are halved and summed as wider numbers. Rows of 30 alone need nothing held, but what they read in slices stands whole;
// two of them are a row of 60, of which nothing does.
// RUN: %weir opt %s --tensor-size-threshold 4000 --stop-after split | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK-NOT:   "stablehlo.reshape"({{.*}}: (tensor<96x60xi32>)
// CHECK:       "weir.loop"
// CHECK:       "stablehlo.reshape"({{.*}}: (tensor<{{[0-9]+}}x60xi32>) -> tensor<{{[0-9]+}}x30xi32>
// CHECK:       "stablehlo.convert"
// CHECK:       "stablehlo.reduce"
// CHECK:       extent = 96

func.func @main(%u: tensor<96xi32>, %v: tensor<60xi32>) -> tensor<i64> {
  %rows = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<96xi32>) -> tensor<96x60xi32>
  %columns = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<60xi32>) -> tensor<96x60xi32>
  %product = stablehlo.multiply %rows, %columns : tensor<96x60xi32>
  %halves = stablehlo.reshape %product : (tensor<96x60xi32>) -> tensor<192x30xi32>
  %wide = stablehlo.convert %halves : (tensor<192x30xi32>) -> tensor<192x30xi64>
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %sum = stablehlo.reduce(%wide init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<192x30xi64>, tensor<i64>) -> tensor<i64>
  return %sum : tensor<i64>
}
