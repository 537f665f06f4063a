// RUN: %weir opt %s --pass=listed,dce | FileCheck %s

// The places of a mask, what is read there, its sum and what is returned of it. No list is made but the one returned.
// CHECK-LABEL: sym_name = "read"
// CHECK: %[[C:.*]] = "stablehlo.reduce_window"
// CHECK-NOT: "stablehlo.reduce_window"
// CHECK: %[[P:.*]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xi32>
// CHECK: %[[G:.*]] = "stablehlo.gather"(%arg0, %{{.*}}) {{.*}} -> tensor<12xf32>
// CHECK: %[[F:.*]] = "stablehlo.compare"(%[[C]], %{{.*}}) {{.*}} LE
// CHECK: %[[V:.*]] = "stablehlo.and"
// CHECK: "stablehlo.select"(%{{.*}}, %[[G]], %{{.*}})
// CHECK: "stablehlo.reduce"
// CHECK: "stablehlo.scatter"({{.*}}) {{.*}}inserted_window_dims = [0]
// CHECK: (tensor<8xf32>, tensor<12x1xi32>, tensor<12xf32>) -> tensor<8xf32>
func.func @read(%x: tensor<12xf32>, %mask: tensor<12xi1>) -> (tensor<f32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %ones = stablehlo.constant dense<1> : tensor<12xi32>
  %bins = stablehlo.constant dense<0> : tensor<8xi32>
  %set = stablehlo.convert %mask : (tensor<12xi1>) -> tensor<12xi32>
  %c = "stablehlo.reduce_window"(%set, %zero) <{padding = dense<[[11, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 12>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<12xi32>, tensor<i32>) -> tensor<12xi32>
  %at = stablehlo.reshape %c : (tensor<12xi32>) -> tensor<12x1xi32>
  %count = "stablehlo.scatter"(%bins, %at, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<12x1xi32>, tensor<12xi32>) -> tensor<8xi32>
  %list = "stablehlo.reduce_window"(%count, %zero) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %places = stablehlo.reshape %list : (tensor<8xi32>) -> tensor<8x1xi32>
  %y = "stablehlo.gather"(%x, %places) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<12xf32>, tensor<8x1xi32>) -> tensor<8xf32>
  %sum = stablehlo.reduce(%y init: %none) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %sum, %y : tensor<f32>, tensor<8xf32>
}

// Which entries there are (k < count) is known of each: no count is asked for, all behind the last are alike.
// CHECK-LABEL: sym_name = "entries"
// CHECK-NOT: stablehlo.reduce"
// CHECK: %[[T:.*]] = "stablehlo.constant"() <{value = dense<true> : tensor<12x2xi1>}>
// CHECK: %[[Y:.*]] = "stablehlo.select"(%[[T]],
// CHECK: %[[F:.*]] = "stablehlo.constant"() <{value = dense<false> : tensor<1x2xi1>}>
// CHECK: "stablehlo.select"(%[[F]],
// CHECK: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %[[Y]])
func.func @entries(%x: tensor<12x2xi32>, %mask: tensor<12xi1>) -> tensor<8x2xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ones = stablehlo.constant dense<1> : tensor<12xi32>
  %bins = stablehlo.constant dense<0> : tensor<8xi32>
  %fill = stablehlo.constant dense<-1> : tensor<8x2xi32>
  %set = stablehlo.convert %mask : (tensor<12xi1>) -> tensor<12xi32>
  %c = "stablehlo.reduce_window"(%set, %zero) <{padding = dense<[[11, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 12>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<12xi32>, tensor<i32>) -> tensor<12xi32>
  %at = stablehlo.reshape %c : (tensor<12xi32>) -> tensor<12x1xi32>
  %bin = "stablehlo.scatter"(%bins, %at, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<12x1xi32>, tensor<12xi32>) -> tensor<8xi32>
  %list = "stablehlo.reduce_window"(%bin, %zero) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %places = stablehlo.reshape %list : (tensor<8xi32>) -> tensor<8x1xi32>
  %y = "stablehlo.gather"(%x, %places) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<12x2xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %count = stablehlo.reduce(%set init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12xi32>, tensor<i32>) -> tensor<i32>
  %k = stablehlo.iota dim = 0 : tensor<8xi32>
  %n = stablehlo.broadcast_in_dim %count, dims = [] : (tensor<i32>) -> tensor<8xi32>
  %is = stablehlo.compare LT, %k, %n, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %column = stablehlo.reshape %is : (tensor<8xi1>) -> tensor<8x1xi1>
  %both = stablehlo.broadcast_in_dim %column, dims = [0, 1] : (tensor<8x1xi1>) -> tensor<8x2xi1>
  %z = stablehlo.select %both, %y, %fill : tensor<8x2xi1>, tensor<8x2xi32>
  return %z : tensor<8x2xi32>
}

// Numbers that may be more than 1 count several times: no mask.
// CHECK-LABEL: sym_name = "left_alone"
// CHECK-COUNT-2: "stablehlo.reduce_window"
func.func @left_alone(%set: tensor<12xi32>) -> tensor<8xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ones = stablehlo.constant dense<1> : tensor<12xi32>
  %bins = stablehlo.constant dense<0> : tensor<8xi32>
  %c = "stablehlo.reduce_window"(%set, %zero) <{padding = dense<[[11, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 12>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<12xi32>, tensor<i32>) -> tensor<12xi32>
  %at = stablehlo.reshape %c : (tensor<12xi32>) -> tensor<12x1xi32>
  %count = "stablehlo.scatter"(%bins, %at, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<12x1xi32>, tensor<12xi32>) -> tensor<8xi32>
  %list = "stablehlo.reduce_window"(%count, %zero) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  return %list : tensor<8xi32>
}

// Two lists that are returned, and what is made of them: each is put together of its own places.
// CHECK-LABEL: sym_name = "two"
// CHECK: %[[A:[0-9]+]] = "stablehlo.scatter"
// CHECK: %[[B:[0-9]+]] = "stablehlo.scatter"
// CHECK: %[[C:[0-9]+]] = "stablehlo.scatter"
// CHECK: %[[D:[0-9]+]] = "stablehlo.scatter"
// CHECK: "func.return"(%[[A]], %[[B]], %[[C]], %[[D]])
func.func @two(%mask0: tensor<12xi1>, %mask1: tensor<12xi1>) -> (tensor<8xi32>, tensor<8xi32>, tensor<9xi32>, tensor<9xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ones = stablehlo.constant dense<1> : tensor<12xi32>
  %bins0 = stablehlo.constant dense<0> : tensor<8xi32>
  %twos0 = stablehlo.constant dense<2> : tensor<8xi32>
  %set0 = stablehlo.convert %mask0 : (tensor<12xi1>) -> tensor<12xi32>
  %c0 = "stablehlo.reduce_window"(%set0, %zero) <{padding = dense<[[11, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 12>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<12xi32>, tensor<i32>) -> tensor<12xi32>
  %at0 = stablehlo.reshape %c0 : (tensor<12xi32>) -> tensor<12x1xi32>
  %count0 = "stablehlo.scatter"(%bins0, %at0, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<12x1xi32>, tensor<12xi32>) -> tensor<8xi32>
  %list0 = "stablehlo.reduce_window"(%count0, %zero) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<8xi32>
  %twice0 = stablehlo.multiply %list0, %twos0 : tensor<8xi32>
  %bins1 = stablehlo.constant dense<0> : tensor<9xi32>
  %twos1 = stablehlo.constant dense<2> : tensor<9xi32>
  %set1 = stablehlo.convert %mask1 : (tensor<12xi1>) -> tensor<12xi32>
  %c1 = "stablehlo.reduce_window"(%set1, %zero) <{padding = dense<[[11, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 12>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<12xi32>, tensor<i32>) -> tensor<12xi32>
  %at1 = stablehlo.reshape %c1 : (tensor<12xi32>) -> tensor<12x1xi32>
  %count1 = "stablehlo.scatter"(%bins1, %at1, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<9xi32>, tensor<12x1xi32>, tensor<12xi32>) -> tensor<9xi32>
  %list1 = "stablehlo.reduce_window"(%count1, %zero) <{padding = dense<[[8, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 9>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<9xi32>, tensor<i32>) -> tensor<9xi32>
  %twice1 = stablehlo.multiply %list1, %twos1 : tensor<9xi32>
  return %list0, %twice0, %list1, %twice1 : tensor<8xi32>, tensor<8xi32>, tensor<9xi32>, tensor<9xi32>
}
