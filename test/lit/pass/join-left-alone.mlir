// RUN: %weir opt %s --pass=join | FileCheck %s

// An op in between reads the first: what it makes is needed whole.
// CHECK:     "sdy.manual_computation"
// CHECK:     "stablehlo.tanh"
// CHECK:     "sdy.manual_computation"
// CHECK:     "func.return"
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %b = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<4xf32>) {
      %0 = stablehlo.abs %p : tensor<4xf32>
      sdy.return %0 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %t = stablehlo.tanh %b : tensor<8xf32>
    %c = sdy.manual_computation(%b, %t) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<4xf32>, %q: tensor<4xf32>) {
      %0 = stablehlo.add %p, %q : tensor<4xf32>
      sdy.return %0 : tensor<4xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %c : tensor<8xf32>
  }
}
