// What has one row, column or element of a product is compared with all of it. Loops of XLA's over rows would make
// the row in one and compare with it in another: a loop over columns does both. Where a trip has both, what is compared
// is kept for all that read it.
// RUN: %weir opt %s --tensor-size-threshold 50kB --tile off --stop-after split | FileCheck %s
// CHECK:      %[[t:.*]] = "stablehlo.exponential"({{.*}} {keep = true} : (tensor<{{[0-9]+}}x340xf32>)
// CHECK-NEXT: "stablehlo.slice"(%[[t]]){{.*}} -> tensor<{{[0-9]+}}x1xf32>
// CHECK:      extent = 301
// CHECK:      %[[s:.*]] = "stablehlo.dot_general"({{.*}} -> tensor<231x{{[0-9]+}}xf32>
// CHECK-NEXT: "stablehlo.slice"(%[[s]]){{.*}} -> tensor<1x{{[0-9]+}}xf32>
// CHECK:      extent = 277
// CHECK-NOT:  weir.loop
module {
  func.func public @main(%x: tensor<231x64xf32>, %y: tensor<277x64xf32>, %z: tensor<301x64xf32>, %w: tensor<340x64xf32>) -> (tensor<277xi32>, tensor<231xi32>, tensor<301xi32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %e = stablehlo.exponential %x : tensor<231x64xf32>
    %s = stablehlo.dot_general %e, %y, contracting_dims = [1] x [1] : (tensor<231x64xf32>, tensor<277x64xf32>) -> tensor<231x277xf32>
    %row = stablehlo.slice %s [7:8, 0:277] : (tensor<231x277xf32>) -> tensor<1x277xf32>
    %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x277xf32>) -> tensor<231x277xf32>
    %found = stablehlo.compare EQ, %s, %rows : (tensor<231x277xf32>, tensor<231x277xf32>) -> tensor<231x277xi1>
    %counted = stablehlo.convert %found : (tensor<231x277xi1>) -> tensor<231x277xi32>
    %n = stablehlo.reduce(%counted init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<231x277xi32>, tensor<i32>) -> tensor<277xi32>
    %n1 = stablehlo.reduce(%counted init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<231x277xi32>, tensor<i32>) -> tensor<231xi32>
    %p = stablehlo.dot_general %z, %w, contracting_dims = [1] x [1] : (tensor<301x64xf32>, tensor<340x64xf32>) -> tensor<301x340xf32>
    %t = stablehlo.exponential %p : tensor<301x340xf32>
    %column = stablehlo.slice %t [0:301, 5:6] : (tensor<301x340xf32>) -> tensor<301x1xf32>
    %columns = stablehlo.broadcast_in_dim %column, dims = [0, 1] : (tensor<301x1xf32>) -> tensor<301x340xf32>
    %found2 = stablehlo.compare EQ, %t, %columns : (tensor<301x340xf32>, tensor<301x340xf32>) -> tensor<301x340xi1>
    %counted2 = stablehlo.convert %found2 : (tensor<301x340xi1>) -> tensor<301x340xi32>
    %n2 = stablehlo.reduce(%counted2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<301x340xi32>, tensor<i32>) -> tensor<301xi32>
    return %n, %n1, %n2 : tensor<277xi32>, tensor<231xi32>, tensor<301xi32>
  }
}
