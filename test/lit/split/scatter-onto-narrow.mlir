// Sums of 16-bit floats are added up one after the other, as they came: in another order they may differ by much.
// RUN: %weir opt %s --tensor-size-threshold 400 --tensor-split-size 400 --stop-after split | FileCheck %s

// CHECK: %[[Y:[0-9]+]] = "weir.loop"
// CHECK: "weir.loop"({{.*}}, %[[Y]])
func.func public @main(%to: tensor<5xbf16>, %i: tensor<37x23x1xi32>, %j: tensor<37x23x1xi32>, %x: tensor<37xbf16>) -> tensor<5xbf16> {
  %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<37xbf16>) -> tensor<37x23xbf16>
  %e = stablehlo.exponential %b : tensor<37x23xbf16>
  %y = "stablehlo.scatter"(%to, %i, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<bf16>, %c: tensor<bf16>):
    %d = stablehlo.add %a, %c : tensor<bf16>
    stablehlo.return %d : tensor<bf16>
  }) : (tensor<5xbf16>, tensor<37x23x1xi32>, tensor<37x23xbf16>) -> tensor<5xbf16>
  %z = "stablehlo.scatter"(%y, %j, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<bf16>, %c: tensor<bf16>):
    %d = stablehlo.add %a, %c : tensor<bf16>
    stablehlo.return %d : tensor<bf16>
  }) : (tensor<5xbf16>, tensor<37x23x1xi32>, tensor<37x23xbf16>) -> tensor<5xbf16>
  return %z : tensor<5xbf16>
}
