// Updates in slices: each goes into what the slices before left; those counted before are sent out of bounds.
// RUN: %weir opt %s --tensor-size-threshold 100 --tensor-split-size 50 --stop-after split | FileCheck %s

// CHECK:      ^bb0(%[[A0:[a-z0-9]+]]: tensor<5xf32>, %[[A1:[a-z0-9]+]]: tensor<37x1xi32>, %[[A2:[a-z0-9]+]]: tensor<37xf32>):
// CHECK-NEXT: %[[V0:[a-z0-9]+]] = "weir.loop"(%[[A0]], %[[A1]], %[[A2]], %[[A0]]) ({
// CHECK-NEXT: ^bb0(%[[A3:[a-z0-9]+]]: tensor<i64>, %[[A4:[a-z0-9]+]]: tensor<i64>, %[[A5:[a-z0-9]+]]: tensor<5xf32>, %[[A6:[a-z0-9]+]]: tensor<10x1xi32>, %[[A7:[a-z0-9]+]]: tensor<10xf32>, %[[A8:[a-z0-9]+]]: tensor<5xf32>):
// CHECK-NEXT: %[[V1:[a-z0-9]+]] = "stablehlo.exponential"(%[[A7]]) : (tensor<10xf32>) -> tensor<10xf32>
// CHECK-NEXT: %[[V2:[a-z0-9]+]] = "stablehlo.constant"() <{value = dense<-1> : tensor<10x1xi32>}> : () -> tensor<10x1xi32>
// CHECK-NEXT: %[[V3:[a-z0-9]+]] = "stablehlo.subtract"(%[[A4]], %[[A3]]) : (tensor<i64>, tensor<i64>) -> tensor<i64>
// CHECK-NEXT: %[[V4:[a-z0-9]+]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<10xi32>
// CHECK-NEXT: %[[V5:[a-z0-9]+]] = "stablehlo.convert"(%[[V3]]) : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT: %[[V6:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V5]]) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<10xi32>
// CHECK-NEXT: %[[V7:[a-z0-9]+]] = "stablehlo.compare"(%[[V4]], %[[V6]]) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<10xi32>, tensor<10xi32>) -> tensor<10xi1>
// CHECK-NEXT: %[[V8:[a-z0-9]+]] = "stablehlo.broadcast_in_dim"(%[[V7]]) <{broadcast_dimensions = array<i64: 0>}> : (tensor<10xi1>) -> tensor<10x1xi1>
// CHECK-NEXT: %[[V9:[a-z0-9]+]] = "stablehlo.select"(%[[V8]], %[[A6]], %[[V2]]) : (tensor<10x1xi1>, tensor<10x1xi32>, tensor<10x1xi32>) -> tensor<10x1xi32>
// CHECK-NEXT: %[[V10:[a-z0-9]+]] = "stablehlo.scatter"(%[[A8]], %[[V9]], %[[V1]]) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
// CHECK-NEXT: ^bb0(%[[A9:[a-z0-9]+]]: tensor<f32>, %[[A10:[a-z0-9]+]]: tensor<f32>):
// CHECK-NEXT: %[[V11:[a-z0-9]+]] = "stablehlo.add"(%[[A9]], %[[A10]]) : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK-NEXT: "stablehlo.return"(%[[V11]]) : (tensor<f32>) -> ()
// CHECK-NEXT: }) : (tensor<5xf32>, tensor<10x1xi32>, tensor<10xf32>) -> tensor<5xf32>
// CHECK-NEXT: "weir.yield"(%[[V10]]) : (tensor<5xf32>) -> ()
// CHECK-NEXT: }) {extent = 37 : i64, in_dims = array<i64: -1, 0, 0>, in_units = array<i64: 1, 1, 1>, out_dims = array<i64: -1>, out_units = array<i64: 1>, seed = "exponential tensor<37xf32>", slice = 10 : i64} : (tensor<5xf32>, tensor<37x1xi32>, tensor<37xf32>, tensor<5xf32>) -> tensor<5xf32>
// CHECK-NEXT: "func.return"(%[[V0]]) : (tensor<5xf32>) -> ()
func.func public @main(%to: tensor<5xf32>, %i: tensor<37x1xi32>, %x: tensor<37xf32>) -> tensor<5xf32> {
  %e = stablehlo.exponential %x : tensor<37xf32>
  %s = "stablehlo.scatter"(%to, %i, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) : (tensor<5xf32>, tensor<37x1xi32>, tensor<37xf32>) -> tensor<5xf32>
  return %s : tensor<5xf32>
}
