// MLIR bytecode: the same module as the text that it was made of (tools/artifacts.py), at every version; text comes out.
// RUN: %roundtrip --verify %root/test/bytecode/ops-1.17.0.mlirbc | FileCheck %s
// RUN: %roundtrip --verify %root/test/bytecode/ops-0.9.0.mlirbc | FileCheck %s
// RUN: %roundtrip --verify %root/test/bytecode/ops-0.14.0.mlirbc | FileCheck %s
// RUN: %weir opt %root/test/bytecode/ops-1.17.0.mlirbc --memory-limit 1GB | FileCheck %s
// RUN: %weir opt %root/test/bytecode/ops-1.17.0.mlirbc --pass dce | FileCheck %s --check-prefix=PASS
// RUN: %weir plan %root/test/bytecode/plain-0.9.0.mlirbc | FileCheck %s --check-prefix=PLAN
// RUN: %weir graph %root/test/bytecode/plain-1.17.0.mlirbc --memory-limit 1GB -o - | FileCheck %s --check-prefix=GRAPH

// CHECK: "builtin.module"() <{sym_name = "ops"}> ({
// CHECK: "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "callee", sym_visibility = "private"}>
// CHECK: value = dense<[true, false, true]> : tensor<3xi1>
// CHECK: value = dense<true> : tensor<9x9xi1>
// CHECK: value = dense<[1, -2, 3, 4]> : tensor<4xi16>
// CHECK: value = dense<(1.000000e+00,-2.000000e+00)> : tensor<2xcomplex<f32>>
// CHECK: "stablehlo.dot_general"{{.*}} <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}>
// CHECK: "stablehlo.convolution"{{.*}} <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}>
// CHECK: "stablehlo.gather"{{.*}} <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}>
// CHECK: "stablehlo.scatter"{{.*}} <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>
// CHECK: "stablehlo.return"
// CHECK: edge_padding_high = array<i64: 2, 3>, edge_padding_low = array<i64: 0, 1>
// CHECK: compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>
// CHECK: "func.call"{{.*}} <{callee = @callee}>
// CHECK: api_version = 2 : i32, backend_config = "x", call_target_name = "target", called_computations = [@callee], has_side_effect = true
// CHECK: #stablehlo<fft_type FFT>
// CHECK: "func.return"

// PASS-NOT: stablehlo.fft
// PASS: "stablehlo.dot_general"
// PLAN: peak{{ +}}64 B
// GRAPH: digraph
// GRAPH-NOT: after
