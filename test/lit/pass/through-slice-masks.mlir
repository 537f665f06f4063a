// A mask that is there whole is cut before it is converted for a product that selects by it, as XLA
// knows it there.
// RUN: %weir opt %s --pass=through-slice,dce | FileCheck %s

// CHECK: sym_name = "main"
// CHECK-DAG: %[[X:.*]] = "stablehlo.slice"(%arg0)
// CHECK-DAG: %[[P:.*]] = "stablehlo.slice"(%arg1)
// CHECK: %[[M:.*]] = "stablehlo.convert"(%[[P]]) : (tensor<8x4xi1>) -> tensor<8x4xf32>
// CHECK-NEXT: "stablehlo.multiply"(%[[X]], %[[M]])
func.func public @main(%x: tensor<20x4xf32>, %p: tensor<20x4xi1>) -> (tensor<8x4xf32>, tensor<20x4xf32>) {
  %m = stablehlo.convert %p : (tensor<20x4xi1>) -> tensor<20x4xf32>
  %y = stablehlo.multiply %x, %m : tensor<20x4xf32>
  %part = stablehlo.slice %y [3:11, 0:4] : (tensor<20x4xf32>) -> tensor<8x4xf32>
  return %part, %m : tensor<8x4xf32>, tensor<20x4xf32>
}

// By others after it.
// CHECK: sym_name = "others"
// CHECK: %[[M2:.*]] = "stablehlo.convert"(%arg1) : (tensor<20x4xi1>) -> tensor<20x4xf32>
// CHECK: %[[S:.*]] = "stablehlo.slice"(%[[M2]])
// CHECK-NEXT: "stablehlo.add"(%{{.*}}, %[[S]])
func.func public @others(%x: tensor<20x4xf32>, %p: tensor<20x4xi1>) -> (tensor<8x4xf32>, tensor<20x4xf32>) {
  %m = stablehlo.convert %p : (tensor<20x4xi1>) -> tensor<20x4xf32>
  %y = stablehlo.add %x, %m : tensor<20x4xf32>
  %part = stablehlo.slice %y [3:11, 0:4] : (tensor<20x4xf32>) -> tensor<8x4xf32>
  return %part, %m : tensor<8x4xf32>, tensor<20x4xf32>
}
