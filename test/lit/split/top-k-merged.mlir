// Over all of a matrix: whole rows in each trip, and what counts positions counts their elements.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 80 --stop-after split | FileCheck %s

// CHECK:      "weir.loop"
// CHECK-NEXT: ^bb0(%[[START:[a-z0-9]+]]: tensor<i64>, %[[LO:[a-z0-9]+]]: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<2x8xf32>
// CHECK:      "stablehlo.reshape"({{.*}}) : (tensor<2x8xf32>) -> tensor<16xf32>
// CHECK:      %[[AGAIN:[a-z0-9]+]] = "stablehlo.subtract"(%[[LO]], %[[START]])
// CHECK-NEXT: %[[EIGHT:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<8> : tensor<i64>}>
// CHECK-NEXT: "stablehlo.multiply"(%[[AGAIN]], %[[EIGHT]])
// CHECK:      %[[EIGHT:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<8> : tensor<i64>}>
// CHECK-NEXT: "stablehlo.multiply"(%[[START]], %[[EIGHT]])
// CHECK:      "weir.yield"
// CHECK-NOT:  -> tensor<104xf32>
func.func public @main(%x: tensor<13x8xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %e = stablehlo.exponential %x : tensor<13x8xf32>
  %r = stablehlo.reshape %e : (tensor<13x8xf32>) -> tensor<104xf32>
  %v, %i = chlo.top_k(%r, k = 3) : tensor<104xf32> -> (tensor<3xf32>, tensor<3xi32>)
  return %v, %i : tensor<3xf32>, tensor<3xi32>
}
