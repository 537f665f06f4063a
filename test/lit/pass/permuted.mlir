// What is gathered in the order of its own sort is the sort's result; the permutation goes with its
// last reader. Not: another array, a sort of other
// numbers than an iota, indices of 8 bits, indices that are moved.
// RUN: %weir opt %s --pass=permuted,dce | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: %[[S:[0-9]+]] = "stablehlo.sort"(%{{[0-9]+}})
// CHECK-NOT: stablehlo.gather
// CHECK: "func.return"(%[[S]])
func.func public @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %zero = stablehlo.constant dense<0> : tensor<64xi32>
  %n = stablehlo.constant dense<64> : tensor<64xi32>
  %t = stablehlo.reshape %x : (tensor<64xf32>) -> tensor<1x64xf32>
  %v = stablehlo.reverse %t, dims = [0] : tensor<1x64xf32>
  %k = stablehlo.reshape %v : (tensor<1x64xf32>) -> tensor<64xf32>
  %s:2 = "stablehlo.sort"(%k, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %c = stablehlo.compare LT, %s#1, %zero : (tensor<64xi32>, tensor<64xi32>) -> tensor<64xi1>
  %w = stablehlo.add %s#1, %n : tensor<64xi32>
  %p = stablehlo.select %c, %w, %s#1 : tensor<64xi1>, tensor<64xi32>
  %q = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<64xi32>) -> tensor<64x1xi32>
  %g = "stablehlo.gather"(%x, %q) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<64xf32>, tensor<64x1xi32>) -> tensor<64xf32>
  return %g : tensor<64xf32>
}

// CHECK: sym_name = "others"
// CHECK-COUNT-4: "stablehlo.gather"
// CHECK: "func.return"
func.func @others(%x: tensor<200xf32>, %y: tensor<200xf32>) -> (tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>) {
  %i = stablehlo.iota dim = 0 : tensor<200xi32>
  %u = stablehlo.iota dim = 0 : tensor<200xui8>
  %back = stablehlo.reverse %i, dims = [0] : tensor<200xi32>
  %half = stablehlo.constant dense<100> : tensor<200xi32>
  %s:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<200xf32>, tensor<200xi32>) -> (tensor<200xf32>, tensor<200xi32>)
  %r:2 = "stablehlo.sort"(%x, %back) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<200xf32>, tensor<200xi32>) -> (tensor<200xf32>, tensor<200xi32>)
  %t:2 = "stablehlo.sort"(%x, %u) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<ui8>, %d: tensor<ui8>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<200xf32>, tensor<200xui8>) -> (tensor<200xf32>, tensor<200xui8>)
  %low = stablehlo.compare LT, %s#1, %half : (tensor<200xi32>, tensor<200xi32>) -> tensor<200xi1>
  %w = stablehlo.add %s#1, %half : tensor<200xi32>
  %p = stablehlo.select %low, %w, %s#1 : tensor<200xi1>, tensor<200xi32>
  %i0 = stablehlo.reshape %s#1 : (tensor<200xi32>) -> tensor<200x1xi32>
  %i1 = stablehlo.reshape %r#1 : (tensor<200xi32>) -> tensor<200x1xi32>
  %i2 = stablehlo.reshape %t#1 : (tensor<200xui8>) -> tensor<200x1xui8>
  %i3 = stablehlo.reshape %p : (tensor<200xi32>) -> tensor<200x1xi32>
  %0 = "stablehlo.gather"(%y, %i0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xf32>, tensor<200x1xi32>) -> tensor<200xf32>
  %1 = "stablehlo.gather"(%x, %i1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xf32>, tensor<200x1xi32>) -> tensor<200xf32>
  %2 = "stablehlo.gather"(%x, %i2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xf32>, tensor<200x1xui8>) -> tensor<200xf32>
  %3 = "stablehlo.gather"(%x, %i3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<200xf32>, tensor<200x1xi32>) -> tensor<200xf32>
  return %0, %1, %2, %3 : tensor<200xf32>, tensor<200xf32>, tensor<200xf32>, tensor<200xf32>
}

// Of two dimensions nobody knows, turned: another order.
// CHECK: sym_name = "turned"
// CHECK: "stablehlo.gather"
func.func public @turned(%x: tensor<?x?xf32>) -> tensor<64xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %k = stablehlo.reshape %t : (tensor<?x?xf32>) -> tensor<64xf32>
  %v = stablehlo.reshape %x : (tensor<?x?xf32>) -> tensor<64xf32>
  %s:2 = "stablehlo.sort"(%k, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %e = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %e : tensor<i1>
  }) : (tensor<64xf32>, tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %g = "stablehlo.gather"(%v, %p) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<64xf32>, tensor<64x1xi32>) -> tensor<64xf32>
  return %g : tensor<64xf32>
}

// Rows whose columns are sorted together, the last one first.
// CHECK: sym_name = "rows"
// CHECK: %[[S:[0-9]+]]:2 = "stablehlo.sort"
// CHECK-NOT: stablehlo.gather
// CHECK: %[[L:[0-9]+]] = "stablehlo.reshape"(%[[S]]#1) : (tensor<64xi32>) -> tensor<64x1xi32>
// CHECK: %[[R:[0-9]+]] = "stablehlo.reshape"(%[[S]]#0) : (tensor<64xi32>) -> tensor<64x1xi32>
// CHECK: %[[C:[0-9]+]] = "stablehlo.concatenate"(%[[L]], %[[R]]) <{dimension = 1 : i64}>
// CHECK: "func.return"(%[[C]])
func.func @rows(%x: tensor<64x2xi32>) -> tensor<64x2xi32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x2xi32>) -> tensor<2x64xi32>
  %r = stablehlo.reverse %t, dims = [0] : tensor<2x64xi32>
  %f = stablehlo.slice %r [0:1, 0:64] : (tensor<2x64xi32>) -> tensor<1x64xi32>
  %j = stablehlo.reshape %f : (tensor<1x64xi32>) -> tensor<64xi32>
  %l = stablehlo.slice %r [1:2, 0:64] : (tensor<2x64xi32>) -> tensor<1x64xi32>
  %k = stablehlo.reshape %l : (tensor<1x64xi32>) -> tensor<64xi32>
  %s:3 = "stablehlo.sort"(%j, %k, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>, %e: tensor<i32>, %g: tensor<i32>):
    %m = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %n = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %h = stablehlo.and %m, %n : tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#2 : (tensor<64xi32>) -> tensor<64x1xi32>
  %q = "stablehlo.gather"(%x, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<64x2xi32>, tensor<64x1xi32>) -> tensor<64x2xi32>
  return %q : tensor<64x2xi32>
}

// One of the columns is not sorted by.
// CHECK: sym_name = "one"
// CHECK: "stablehlo.gather"
func.func @one(%x: tensor<64x2xi32>) -> tensor<64x2xi32> {
  %i = stablehlo.iota dim = 0 : tensor<64xi32>
  %f = stablehlo.slice %x [0:64, 1:2] : (tensor<64x2xi32>) -> tensor<64x1xi32>
  %j = stablehlo.reshape %f : (tensor<64x1xi32>) -> tensor<64xi32>
  %s:2 = "stablehlo.sort"(%j, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %h = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %h : tensor<i1>
  }) : (tensor<64xi32>, tensor<64xi32>) -> (tensor<64xi32>, tensor<64xi32>)
  %p = stablehlo.reshape %s#1 : (tensor<64xi32>) -> tensor<64x1xi32>
  %q = "stablehlo.gather"(%x, %p) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<64x2xi32>, tensor<64x1xi32>) -> tensor<64x2xi32>
  return %q : tensor<64x2xi32>
}
