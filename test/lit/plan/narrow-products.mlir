// What XLA CPU's library multiplies as it comes: bytes into i32 and bf16 into f32. Vectors, few terms, products
// of which each extent is below eight, and rows that are read as columns are converted first; so is bf16 that becomes bf16.
// RUN: %peak --graph %s | FileCheck %s
// CHECK-DAG: i32[80,64] dot_general %[[A:[0-9]+]], %[[B:[0-9]+]]
// CHECK-DAG: %[[A]] = i8[80,128] parameter#0
// CHECK-DAG: %[[B]] = i8[128,64] parameter#1
// CHECK-DAG: i32[1,64] dot_general %[[ROW:[0-9]+]], %[[WIDE:[0-9]+]]
// CHECK-DAG: %[[ROW]] = i32[1,128] convert
// CHECK-DAG: %[[WIDE]] = i32[128,64] convert
// CHECK-DAG: i32[128,128] dot_general %[[T:[0-9]+]],
// CHECK-DAG: %[[T]] = i32[80,128] convert
// CHECK-DAG: i32[128,64] dot_general %[[FEW:[0-9]+]],
// CHECK-DAG: %[[FEW]] = i32[128,3] convert
// CHECK-DAG: f32[80,64] dot_general %[[C:[0-9]+]], %[[D:[0-9]+]]
// CHECK-DAG: %[[C]] = bf16[80,128] parameter#2
// CHECK-DAG: %[[D]] = bf16[128,64] parameter#3
// CHECK-DAG: f32[80,80] dot_general %[[E:[0-9]+]],
// CHECK-DAG: %[[E]] = f32[80,128] convert
// CHECK-DAG: i32[9,7,5] dot_general %[[TINY:[0-9]+]],
// CHECK-DAG: %[[TINY]] = i32[9,7,6] convert
// CHECK-DAG: i32[9,7,4] dot_general %[[LONG:[0-9]+]],
// CHECK-DAG: %[[LONG]] = i8[9,7,8] parameter#9
func.func public @main(%a: tensor<80x128xi8>, %b: tensor<128x64xi8>, %c: tensor<80x128xbf16>, %d: tensor<128x64xbf16>, %row: tensor<1x128xi8>, %few: tensor<128x3xi8>, %three: tensor<3x64xi8>, %tiny: tensor<9x7x6xi8>, %six: tensor<9x6x5xi8>, %long: tensor<9x7x8xi8>, %eight: tensor<9x8x4xi8>) -> (tensor<80x64xi32>, tensor<1x64xi32>, tensor<128x128xi32>, tensor<128x64xi32>, tensor<80x64xf32>, tensor<80x80xbf16>, tensor<9x7x5xi32>, tensor<9x7x4xi32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<80x128xi8>, tensor<128x64xi8>) -> tensor<80x64xi32>
  %1 = stablehlo.dot_general %row, %b, contracting_dims = [1] x [0] : (tensor<1x128xi8>, tensor<128x64xi8>) -> tensor<1x64xi32>
  %2 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<80x128xi8>, tensor<80x128xi8>) -> tensor<128x128xi32>
  %3 = stablehlo.dot_general %few, %three, contracting_dims = [1] x [0] : (tensor<128x3xi8>, tensor<3x64xi8>) -> tensor<128x64xi32>
  %4 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<80x128xbf16>, tensor<128x64xbf16>) -> tensor<80x64xf32>
  %5 = stablehlo.dot_general %c, %c, contracting_dims = [1] x [1] : (tensor<80x128xbf16>, tensor<80x128xbf16>) -> tensor<80x80xbf16>
  %6 = stablehlo.dot_general %tiny, %six, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<9x7x6xi8>, tensor<9x6x5xi8>) -> tensor<9x7x5xi32>
  %7 = stablehlo.dot_general %long, %eight, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<9x7x8xi8>, tensor<9x8x4xi8>) -> tensor<9x7x4xi32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<80x64xi32>, tensor<1x64xi32>, tensor<128x128xi32>, tensor<128x64xi32>, tensor<80x64xf32>, tensor<80x80xbf16>, tensor<9x7x5xi32>, tensor<9x7x4xi32>
}
