// Products that are asked for with different algorithms stay two.
// RUN: %weir opt %s --pass=distribute,dce | FileCheck %s
// CHECK-COUNT-2: "stablehlo.dot_general"
func.func @main(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>, %x: tensor<3x90xf32>) -> tensor<3x90xf32> {
  %0 = "stablehlo.dot_general"(%a, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = f32, rhs_precision_type = f32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
  %1 = "stablehlo.dot_general"(%b, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>}> : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x90xf32>
  return %2 : tensor<3x90xf32>
}
