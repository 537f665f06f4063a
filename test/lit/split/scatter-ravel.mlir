// Updates that are a matrix as one list: the factor is the matrix's rows, 23 updates each.
// RUN: %weir opt %s --tensor-size-threshold 400 --tensor-split-size 400 --stop-after split | FileCheck %s

// CHECK: "weir.loop"
// CHECK: %[[E:[a-z0-9]+]] = "stablehlo.exponential"({{.*}}) : (tensor<[[N:[0-9]+]]x23xf32>) -> tensor<[[N]]x23xf32>
// CHECK: %[[U:[a-z0-9]+]] = "stablehlo.reshape"(%[[E]]) : (tensor<[[N]]x23xf32>) -> tensor<[[M:[0-9]+]]xf32>
// CHECK: "stablehlo.select"({{.*}}) : (tensor<[[M]]x1xi1>, tensor<[[M]]x1xi32>, tensor<[[M]]x1xi32>) -> tensor<[[M]]x1xi32>
// CHECK: "stablehlo.scatter"({{.*}}, %[[U]])
// CHECK: (tensor<5xf32>, tensor<[[M]]x1xi32>, tensor<[[M]]xf32>) -> tensor<5xf32>
// CHECK: in_units = array<i64: {{.*}}23{{.*}}>
// CHECK-NOT: "stablehlo.scatter"
func.func public @main(%to: tensor<5xf32>, %i: tensor<851x1xi32>, %x: tensor<37xf32>) -> tensor<5xf32> {
  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<37xf32>) -> tensor<37x23xf32>
  %e = stablehlo.exponential %b : tensor<37x23xf32>
  %u = stablehlo.reshape %e : (tensor<37x23xf32>) -> tensor<851xf32>
  %s = "stablehlo.scatter"(%to, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %p = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %p : tensor<f32>
  }) : (tensor<5xf32>, tensor<851x1xi32>, tensor<851xf32>) -> tensor<5xf32>
  return %s : tensor<5xf32>
}
