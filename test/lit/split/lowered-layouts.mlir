// A library call that wants matrices column by column: slices that the loop reads and writes are held row by row, or
// XLA copies the whole of what they are slices of. Vectors have one layout. Where nobody asks for columns no slice is
// held (the second loop).
// RUN: %weir opt %s --tensor-size-threshold 1000 --tensor-split-size 500 --skip=by-rows | FileCheck %s

// CHECK:      "stablehlo.while"
// CHECK:      %[[S:[0-9]+]] = "stablehlo.dynamic_slice"{{.*}} -> tensor<5x5x5xf32>
// CHECK-NEXT: %[[H:[0-9]+]] = "stablehlo.custom_call"(%[[S]]) <{api_version = 1 : i32, call_target_name = "LayoutConstraint", operand_layouts = [dense<[2, 1, 0]> : tensor<3xindex>], result_layouts = [dense<[2, 1, 0]> : tensor<3xindex>]}> : (tensor<5x5x5xf32>) -> tensor<5x5x5xf32>
// CHECK-NEXT: %[[E:[0-9]+]] = "stablehlo.multiply"(%[[H]], %[[H]])
// CHECK-NEXT: %[[C:[0-9]+]]:2 = "stablehlo.custom_call"(%[[E]]){{.*}}lapack_spotrf_ffi
// CHECK:      "stablehlo.dynamic_update_slice"(%{{[a-z0-9]+}}, %[[C]]#1,
// CHECK:      %[[R:[0-9]+]] = "stablehlo.custom_call"(%{{[0-9]+}}) {{.*}}"LayoutConstraint"{{.*}} -> tensor<5x5xf32>
// CHECK:      "stablehlo.dynamic_update_slice"(%{{[a-z0-9]+}}, %[[R]],
// CHECK:      "stablehlo.while"
// CHECK-NOT:  LayoutConstraint
// CHECK:      "func.return"
func.func public @main(%x: tensor<20x5x5xf32>) -> (tensor<20x5xf32>, tensor<20xi32>, tensor<20x5xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.multiply %x, %x : tensor<20x5x5xf32>
  %l:2 = stablehlo.custom_call @lapack_spotrf_ffi(%e) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]} : (tensor<20x5x5xf32>) -> (tensor<20x5x5xf32>, tensor<20xi32>)
  %r = stablehlo.reduce(%l#0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<20x5x5xf32>, tensor<f32>) -> tensor<20x5xf32>
  %b = stablehlo.optimization_barrier %r : tensor<20x5xf32>
  %y = stablehlo.broadcast_in_dim %b, dims = [0, 1] : (tensor<20x5xf32>) -> tensor<20x5x5xf32>
  %s = stablehlo.sine %y : tensor<20x5x5xf32>
  %t = "stablehlo.sort"(%s) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<20x5x5xf32>) -> tensor<20x5x5xf32>
  %u = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<20x5x5xf32>, tensor<f32>) -> tensor<20x5xf32>
  return %r, %l#1, %u : tensor<20x5xf32>, tensor<20xi32>, tensor<20x5xf32>
}
