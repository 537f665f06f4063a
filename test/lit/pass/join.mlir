// RUN: %weir opt %s --pass=join | FileCheck %s

// What @main's first two make and read is joined; %b#0 is also read elsewhere and stays a result.
// The third reads %c under another sharding.
// CHECK:      %[[C:[a-z0-9]+]]:2 = "sdy.manual_computation"(%arg0, %arg1) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>]>}> ({
// CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32>):
// CHECK-NEXT:   %[[A:[a-z0-9]+]] = "stablehlo.abs"(%[[X]])
// CHECK-NEXT:   %[[B:[a-z0-9]+]] = "stablehlo.negate"(%[[A]])
// CHECK-NEXT:   %[[S:[a-z0-9]+]] = "stablehlo.add"(%[[B]], %[[Y]])
// CHECK-NEXT:   "sdy.return"(%[[A]], %[[S]])
// CHECK:      }) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[D:[a-z0-9]+]] = "sdy.manual_computation"(%[[C]]#1)
// CHECK:      "func.return"(%[[D]], %[[C]]#0)
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
    %b:2 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<4xf32>) {
      %0 = stablehlo.abs %p : tensor<4xf32>
      %1 = stablehlo.negate %0 : tensor<4xf32>
      sdy.return %0, %1 : tensor<4xf32>, tensor<4xf32>
    } : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    %c = sdy.manual_computation(%b#1, %y) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<4xf32>, %q: tensor<4xf32>) {
      %0 = stablehlo.add %p, %q : tensor<4xf32>
      sdy.return %0 : tensor<4xf32>
    } : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
    %d = sdy.manual_computation(%c) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%p: tensor<8xf32>) {
      %0 = stablehlo.slice %p [0:2] : (tensor<8xf32>) -> tensor<2xf32>
      sdy.return %0 : tensor<2xf32>
    } : (tensor<8xf32>) -> tensor<4xf32>
    return %d, %b#0 : tensor<4xf32>, tensor<8xf32>
  }
}
