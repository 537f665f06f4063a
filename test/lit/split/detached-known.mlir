// A region is the same whether its seed is dissolved or made by each of its readers for itself. What is known of it from another
// seed serves the second question as it serves the first: nothing is grown from the values of the products' regions.
// RUN: not %weir opt %root/test/corpus/p_hessian_small/program.mlir --memory-limit 1739 --tile off --debug 5 2>&1 >/dev/null | FileCheck %s
// CHECK: nothing holds: values made anew in each trip
// CHECK: candidate: dimension 1 of stablehlo.dot_general, extent 5, slice 5, 1 loops, held 3200
// CHECK-NOT: of stablehlo.tanh
// CHECK: nothing holds:
