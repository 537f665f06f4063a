// A gather from a part of an argument is one from the argument: the part is not copied. Windows of what is computed
// are read element by element where data says their places along two dimensions.
// RUN: %weir opt %s --pass=through-gather,dce | FileCheck %s
// RUN: %weir opt %s --pass=through-gather,dce --skip=through-gather | FileCheck %s --check-prefix=SKIP
// SKIP-COUNT-6: stablehlo.slice"(

// CHECK:     sym_name = "table"
// CHECK-NOT: stablehlo.slice
// CHECK:     %[[AT:.*]] = "stablehlo.concatenate"(%{{.*}}, %{{.*}}) <{dimension = 1 : i64}> {{.*}} -> tensor<5x2xi32>
// CHECK:     "stablehlo.gather"(%arg0, %[[AT]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 3>}>
func.func @table(%t: tensor<4x40x3xf32>, %i: tensor<5x1xi32>) -> (tensor<5x3xf32>) {
  %s = stablehlo.slice %t [2:3, 0:40, 0:3] : (tensor<4x40x3xf32>) -> tensor<1x40x3xf32>
  %x = stablehlo.reshape %s : (tensor<1x40x3xf32>) -> tensor<40x3xf32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<40x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// What is beyond the ends of the part is the nearest of the part.
// CHECK:     sym_name = "rows"
// CHECK-NOT: stablehlo.slice
// CHECK:     %[[IN:.*]] = "stablehlo.minimum"
// CHECK:     %[[AT:.*]] = "stablehlo.add"(%[[IN]], 
// CHECK:     "stablehlo.gather"(%arg0, %[[AT]])
func.func @rows(%t: tensor<40x3xf32>, %i: tensor<5x1xi32>) -> (tensor<5x3xf32>) {
  %x = stablehlo.slice %t [7:33, 0:3] : (tensor<40x3xf32>) -> tensor<26x3xf32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<26x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// What is computed would be computed as a whole.
// CHECK:     sym_name = "computed"
// CHECK:     stablehlo.slice
func.func @computed(%t: tensor<40x3xf32>, %i: tensor<5x1xi32>) -> (tensor<5x3xf32>) {
  %e = "stablehlo.sort"(%t) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<40x3xf32>) -> tensor<40x3xf32>
  %x = stablehlo.slice %e [7:33, 0:3] : (tensor<40x3xf32>) -> tensor<26x3xf32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<26x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Every second row.
// CHECK:     sym_name = "steps"
// CHECK:     stablehlo.slice
func.func @steps(%t: tensor<40x3xf32>, %i: tensor<5x1xi32>) -> (tensor<5x3xf32>) {
  %x = stablehlo.slice %t [0:40:2, 0:3] : (tensor<40x3xf32>) -> tensor<20x3xf32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<20x3xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// Columns, which no place names.
// CHECK:     sym_name = "columns"
// CHECK:     stablehlo.slice
func.func @columns(%t: tensor<40x3xf32>, %i: tensor<5x1xi32>) -> (tensor<5x2xf32>) {
  %x = stablehlo.slice %t [0:40, 1:3] : (tensor<40x3xf32>) -> tensor<40x2xf32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<40x2xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// Windows of two rows.
// CHECK:     sym_name = "windows"
// CHECK:     stablehlo.slice
func.func @windows(%t: tensor<40x3xf32>, %i: tensor<5x1xi32>) -> (tensor<5x2x3xf32>) {
  %x = stablehlo.slice %t [7:33, 0:3] : (tensor<40x3xf32>) -> tensor<26x3xf32>
  %y = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>}> : (tensor<26x3xf32>, tensor<5x1xi32>) -> tensor<5x2x3xf32>
  return %y : tensor<5x2x3xf32>
}

// Windows at places that are data along both dimensions of what is computed, by their elements.
// CHECK:     sym_name = "patches"
// CHECK-NOT: stablehlo.exponential"{{.*}} -> tensor<40x30xf32>
// CHECK:     "stablehlo.gather"(%arg0, {{.*}} -> tensor<5x2x3xf32>
// CHECK:     "stablehlo.exponential"({{.*}} -> tensor<5x2x3xf32>
func.func @patches(%t: tensor<40x30xf32>, %i: tensor<5x2xi32>) -> (tensor<5x2x3xf32>) {
  %e = stablehlo.exponential %t : tensor<40x30xf32>
  %y = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 3>}> : (tensor<40x30xf32>, tensor<5x2xi32>) -> tensor<5x2x3xf32>
  return %y : tensor<5x2x3xf32>
}

// Whole columns of windows: rows of these are sliced.
// CHECK:     sym_name = "strips"
// CHECK:     "stablehlo.exponential"({{.*}} -> tensor<40x30xf32>
func.func @strips(%t: tensor<40x30xf32>, %i: tensor<5x1xi32>) -> (tensor<5x2x30xf32>) {
  %e = stablehlo.exponential %t : tensor<40x30xf32>
  %y = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 30>}> : (tensor<40x30xf32>, tensor<5x1xi32>) -> tensor<5x2x30xf32>
  return %y : tensor<5x2x30xf32>
}

// More than half of the elements.
// CHECK:     sym_name = "most"
// CHECK:     "stablehlo.exponential"({{.*}} -> tensor<40x30xf32>
func.func @most(%t: tensor<40x30xf32>, %i: tensor<5x2xi32>) -> (tensor<5x20x13xf32>) {
  %e = stablehlo.exponential %t : tensor<40x30xf32>
  %y = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 20, 13>}> : (tensor<40x30xf32>, tensor<5x2xi32>) -> tensor<5x20x13xf32>
  return %y : tensor<5x20x13xf32>
}
