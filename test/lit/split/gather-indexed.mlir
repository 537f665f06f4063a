// The dimension that the indices name: each slice is read at the indices that lie in it.
// RUN: %weir opt %s --skip through-gather --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s
// RUN: %weir opt %s --skip through-gather --tensor-size-threshold 100 --tensor-split-size 50 > %t
// RUN: not grep 40xf32 %t

// CHECK: "weir.loop"(%arg0, %{{.*}}) ({
// CHECK-NEXT: ^bb0(%[[START:.*]]: tensor<i64>, %[[LO:.*]]: tensor<i64>, %[[I:.*]]: tensor<3x1xi32>, %[[CARRY:.*]]: tensor<3xf32>):
// CHECK: %[[E:.*]] = "stablehlo.exponential"({{.*}}) : (tensor<10xf32>)
// CHECK: %[[WIDE:.*]] = "stablehlo.convert"(%[[I]])
// CHECK: %[[HIGH:.*]] = "stablehlo.maximum"(%[[WIDE]],
// CHECK: dense<39>
// CHECK: %[[AT:.*]] = "stablehlo.minimum"(%[[HIGH]],
// CHECK: %[[MINE:.*]] = "stablehlo.and"
// CHECK: %[[MASK:.*]] = "stablehlo.broadcast_in_dim"(%[[MINE]])
// CHECK: %[[ORIGIN:.*]] = "stablehlo.broadcast_in_dim"(%[[START]])
// CHECK: %[[LOCAL:.*]] = "stablehlo.subtract"(%[[AT]], %[[ORIGIN]])
// CHECK: %[[READ:.*]] = "stablehlo.gather"(%[[E]], %[[LOCAL]])
// CHECK: %[[NEW:.*]] = "stablehlo.select"(%[[MASK]], %[[READ]], %[[CARRY]])
// CHECK: "weir.yield"(%[[NEW]])
// CHECK: out_dims = array<i64: -1>
func.func public @main(%i: tensor<3x1xi32>) -> tensor<3xf32> {
  %x = stablehlo.iota dim = 0 : tensor<40xf32>
  %e = stablehlo.exponential %x : tensor<40xf32>
  %g = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<40xf32>, tensor<3x1xi32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}
