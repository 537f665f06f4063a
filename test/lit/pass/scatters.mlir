// Scatters that are added up add to one buffer, whatever the order of the sums: one is left that begins with zeros.
// RUN: %weir opt %s --pass=scatters,dce | FileCheck %s
// RUN: %weir opt %s --pass=scatters,dce --skip=scatters | FileCheck %s --check-prefix=SKIP
// RUN: %weir opt %s --pass=scatters,dce --tensor-size-threshold 500 | FileCheck %s --check-prefix=SKIP
// SKIP-COUNT-12: stablehlo.add"({{.*}} -> tensor<40x3xf32>

// Sums one after the other, as gradients have them.
// CHECK:     sym_name = "three"
// CHECK:     %[[ZERO:.*]] = "stablehlo.constant"
// CHECK:     %[[ONE:.*]] = "stablehlo.scatter"(%[[ZERO]], %[[I:.*]], %[[U:.*]]) <
// CHECK-NOT: stablehlo.add"({{.*}} -> tensor<40x3x
// CHECK:     %[[TWO:.*]] = "stablehlo.scatter"(%[[ONE]], 
// CHECK-NOT: stablehlo.add"({{.*}} -> tensor<40x3x
// CHECK:     %[[ALL:.*]] = "stablehlo.scatter"(%[[TWO]], 
// CHECK-NOT: stablehlo.add"({{.*}} -> tensor<40x3x
// CHECK:     "func.return"(%[[ALL]])
func.func @three(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %i2: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>, %u2: tensor<5x3xf32>) -> (tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s2 = "stablehlo.scatter"(%z, %i2, %u2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xf32>
  %b = stablehlo.add %a, %s2 : tensor<40x3xf32>
  return %b : tensor<40x3xf32>
}

// Sums of sums, an integer's, too.
// CHECK:     sym_name = "four"
// CHECK:     %[[ZERO:.*]] = "stablehlo.constant"
// CHECK:     %[[ONE:.*]] = "stablehlo.scatter"(%[[ZERO]], 
// CHECK-NOT: stablehlo.add"({{.*}} -> tensor<40x3x
// CHECK:     %[[TWO:.*]] = "stablehlo.scatter"(%[[ONE]], 
// CHECK-NOT: stablehlo.add"({{.*}} -> tensor<40x3x
// CHECK:     %[[THREE:.*]] = "stablehlo.scatter"(%[[TWO]], 
// CHECK-NOT: stablehlo.add"({{.*}} -> tensor<40x3x
// CHECK:     %[[ALL:.*]] = "stablehlo.scatter"(%[[THREE]], 
// CHECK-NOT: stablehlo.add"({{.*}} -> tensor<40x3x
// CHECK:     "func.return"(%[[ALL]])
func.func @four(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %i2: tensor<5x1xi32>, %i3: tensor<5x1xi32>, %u0: tensor<5x3xi16>, %u1: tensor<5x3xi16>, %u2: tensor<5x3xi16>, %u3: tensor<5x3xi16>) -> (tensor<40x3xi16>) {
  %z = stablehlo.constant dense<0> : tensor<40x3xi16>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<i16>, %new: tensor<i16>):
    %0 = stablehlo.add %old, %new : tensor<i16>
    stablehlo.return %0 : tensor<i16>
  }) : (tensor<40x3xi16>, tensor<5x1xi32>, tensor<5x3xi16>) -> tensor<40x3xi16>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<i16>, %new: tensor<i16>):
    %0 = stablehlo.add %old, %new : tensor<i16>
    stablehlo.return %0 : tensor<i16>
  }) : (tensor<40x3xi16>, tensor<5x1xi32>, tensor<5x3xi16>) -> tensor<40x3xi16>
  %s2 = "stablehlo.scatter"(%z, %i2, %u2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<i16>, %new: tensor<i16>):
    %0 = stablehlo.add %old, %new : tensor<i16>
    stablehlo.return %0 : tensor<i16>
  }) : (tensor<40x3xi16>, tensor<5x1xi32>, tensor<5x3xi16>) -> tensor<40x3xi16>
  %s3 = "stablehlo.scatter"(%z, %i3, %u3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<i16>, %new: tensor<i16>):
    %0 = stablehlo.add %old, %new : tensor<i16>
    stablehlo.return %0 : tensor<i16>
  }) : (tensor<40x3xi16>, tensor<5x1xi32>, tensor<5x3xi16>) -> tensor<40x3xi16>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xi16>
  %b = stablehlo.add %s2, %s3 : tensor<40x3xi16>
  %c = stablehlo.add %a, %b : tensor<40x3xi16>
  return %c : tensor<40x3xi16>
}

// One is returned, too: it would be copied.
// CHECK:     sym_name = "read_twice"
// CHECK:     %[[A:.*]] = "stablehlo.add"({{.*}} -> tensor<40x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @read_twice(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<40x3xf32>, tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xf32>
  return %a, %s1 : tensor<40x3xf32>, tensor<40x3xf32>
}

// A sum is read twice: it is no link of another.
// CHECK:     sym_name = "sum_read_twice"
// CHECK:     %[[A:.*]] = "stablehlo.scatter"(%{{.*}}, %{{.*}}, %{{.*}}) <
// CHECK:     %[[B:.*]] = "stablehlo.add"(%[[SUM:.*]], %{{.*}} -> tensor<40x3xf32>
// CHECK:     %[[C:.*]] = "stablehlo.add"(%[[B]], %[[SUM]]) {{.*}} -> tensor<40x3xf32>
// CHECK:     "func.return"(%[[C]])
func.func @sum_read_twice(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %i2: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>, %u2: tensor<5x3xf32>) -> (tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s2 = "stablehlo.scatter"(%z, %i2, %u2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xf32>
  %b = stablehlo.add %a, %s2 : tensor<40x3xf32>
  %c = stablehlo.add %b, %a : tensor<40x3xf32>
  return %c : tensor<40x3xf32>
}

// The largest entries are no sums.
// CHECK:     sym_name = "largest"
// CHECK:     %[[A:.*]] = "stablehlo.add"({{.*}} -> tensor<40x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @largest(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.maximum %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.maximum %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xf32>
  return %a : tensor<40x3xf32>
}

// Sums of 16-bit floats would be rounded more often.
// CHECK:     sym_name = "half"
// CHECK:     %[[A:.*]] = "stablehlo.add"({{.*}} -> tensor<40x3xbf16>
// CHECK:     "func.return"(%[[A]]
func.func @half(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xbf16>, %u1: tensor<5x3xbf16>) -> (tensor<40x3xbf16>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xbf16>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<bf16>, %new: tensor<bf16>):
    %0 = stablehlo.add %old, %new : tensor<bf16>
    stablehlo.return %0 : tensor<bf16>
  }) : (tensor<40x3xbf16>, tensor<5x1xi32>, tensor<5x3xbf16>) -> tensor<40x3xbf16>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<bf16>, %new: tensor<bf16>):
    %0 = stablehlo.add %old, %new : tensor<bf16>
    stablehlo.return %0 : tensor<bf16>
  }) : (tensor<40x3xbf16>, tensor<5x1xi32>, tensor<5x3xbf16>) -> tensor<40x3xbf16>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xbf16>
  return %a : tensor<40x3xbf16>
}

// Nor is it known that two begin with zeros.
// CHECK:     sym_name = "others"
// CHECK:     %[[A:.*]] = "stablehlo.add"({{.*}} -> tensor<40x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @others(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>, %x: tensor<40x3xf32>) -> (tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%x, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%x, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xf32>
  return %a : tensor<40x3xf32>
}

// An attribute of somebody else's.
// CHECK:     sym_name = "tagged"
// CHECK:     %[[A:.*]] = "stablehlo.add"({{.*}} -> tensor<40x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @tagged(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) {mhlo.frontend_attributes = {note = "mine"}} : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xf32>
  return %a : tensor<40x3xf32>
}

// Of two arrays at a time.
// CHECK:     sym_name = "of_two"
// CHECK:     %[[A:.*]] = "stablehlo.add"({{.*}} -> tensor<40x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @of_two(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %two:2 = "stablehlo.scatter"(%z, %z, %i1, %u1, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %older: tensor<f32>, %new: tensor<f32>, %newer: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    %1 = stablehlo.add %older, %newer : tensor<f32>
    stablehlo.return %0, %1 : tensor<f32>, tensor<f32>
  }) : (tensor<40x3xf32>, tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<40x3xf32>, tensor<40x3xf32>)
  %a = stablehlo.add %s0, %two#0 : tensor<40x3xf32>
  return %a : tensor<40x3xf32>
}

// The sum of two stays where it is: it is made once, not in each trip.
// CHECK:     sym_name = "in_a_while"
// CHECK:     "stablehlo.scatter"(
// CHECK:     %[[TWO:.*]] = "stablehlo.scatter"(
// CHECK:     "stablehlo.while"(
// CHECK:     %[[ONE:.*]] = "stablehlo.scatter"(
// CHECK:     "stablehlo.add"(%[[TWO]], %[[ONE]])
func.func @in_a_while(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %i2: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>, %u2: tensor<5x3xf32>) -> (tensor<40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a = stablehlo.add %s0, %s1 : tensor<40x3xf32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w:2 = stablehlo.while(%c = %zero, %x = %z) : tensor<i32>, tensor<40x3xf32> cond {
    %more = stablehlo.compare LT, %c, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
      %s2 = "stablehlo.scatter"(%z, %i2, %u2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%old: tensor<f32>, %new: tensor<f32>):
        %0 = stablehlo.add %old, %new : tensor<f32>
        stablehlo.return %0 : tensor<f32>
      }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
    %b = stablehlo.add %a, %s2 : tensor<40x3xf32>
    %next = stablehlo.multiply %x, %b : tensor<40x3xf32>
    %d = stablehlo.add %c, %one : tensor<i32>
    stablehlo.return %d, %next : tensor<i32>, tensor<40x3xf32>
  }
  return %w#1 : tensor<40x3xf32>
}

// ---- padded ones ----
// Parts of one array, t[0][i0], t[2][i1] and t[2][i2]: the number of the part is a place, too.
// CHECK:     sym_name = "parts"
// CHECK:     %[[FIRST:.*]] = "stablehlo.concatenate"(%{{.*}}, %{{.*}}) <{dimension = 1 : i64}> {{.*}} -> tensor<5x2xi32>
// CHECK:     %[[ONE:.*]] = "stablehlo.scatter"(%{{.*}}, %[[FIRST]], %{{.*}}) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}>
// CHECK:     %[[TWO:.*]] = "stablehlo.scatter"(%[[ONE]], 
// CHECK:     %[[ALL:.*]] = "stablehlo.scatter"(%[[TWO]], 
// CHECK-NOT: stablehlo.pad
// CHECK:     "func.return"(%[[ALL]]) : (tensor<3x40x3xf32>)
func.func @parts(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %i2: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>, %u2: tensor<5x3xf32>) -> (tensor<3x40x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = "stablehlo.scatter"(%z, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %s2 = "stablehlo.scatter"(%z, %i2, %u2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %a0 = stablehlo.reshape %s0 : (tensor<40x3xf32>) -> tensor<1x40x3xf32>
  %p0 = stablehlo.pad %a0, %none, low = [0, 0, 0], high = [2, 0, 0], interior = [0, 0, 0] : (tensor<1x40x3xf32>, tensor<f32>) -> tensor<3x40x3xf32>
  %b = stablehlo.add %s1, %s2 : tensor<40x3xf32>
  %a1 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<40x3xf32>) -> tensor<1x40x3xf32>
  %p1 = stablehlo.pad %a1, %none, low = [2, 0, 0], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<1x40x3xf32>, tensor<f32>) -> tensor<3x40x3xf32>
  %c = stablehlo.add %p0, %p1 : tensor<3x40x3xf32>
  return %c : tensor<3x40x3xf32>
}

// Rows of one table, t[7:47][i]: what is beyond the ends of the rows is beyond those of the table, all of it at one
// place.
// CHECK:     sym_name = "rows"
// CHECK:     %[[INSIDE:.*]] = "stablehlo.and"
// CHECK:     "stablehlo.constant"() <{value = dense<7> : tensor<5x1xi32>}>
// CHECK:     %[[MOVED:.*]] = "stablehlo.add"(%arg1, 
// CHECK:     "stablehlo.constant"() <{value = dense<50> : tensor<5x1xi32>}>
// CHECK:     %[[PLACES:.*]] = "stablehlo.select"(%[[INSIDE]], %[[MOVED]], 
// CHECK:     %[[ALL:.*]] = "stablehlo.scatter"(%{{.*}}, %[[PLACES]], %{{.*}}) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}>
// CHECK:     "func.return"(%[[ALL]]) : (tensor<50x3xf32>)
func.func @rows(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<50x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %y = stablehlo.constant dense<0.0> : tensor<50x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = "stablehlo.scatter"(%y, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<50x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<50x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true, indices_are_sorted = true}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %p = stablehlo.pad %s1, %none, low = [7, 0], high = [3, 0], interior = [0, 0] : (tensor<40x3xf32>, tensor<f32>) -> tensor<50x3xf32>
  %a = stablehlo.add %s0, %p : tensor<50x3xf32>
  return %a : tensor<50x3xf32>
}

// Padded with ones.
// CHECK:     sym_name = "ones"
// CHECK:     %[[P:.*]] = "stablehlo.pad"(
// CHECK:     %[[A:.*]] = "stablehlo.add"(%{{.*}}, %[[P]]) {{.*}} -> tensor<50x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @ones(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<50x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %y = stablehlo.constant dense<0.0> : tensor<50x3xf32>
  %none = stablehlo.constant dense<1.0> : tensor<f32>
  %s0 = "stablehlo.scatter"(%y, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<50x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<50x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %p = stablehlo.pad %s1, %none, low = [7, 0], high = [3, 0], interior = [0, 0] : (tensor<40x3xf32>, tensor<f32>) -> tensor<50x3xf32>
  %a = stablehlo.add %s0, %p : tensor<50x3xf32>
  return %a : tensor<50x3xf32>
}

// With gaps between.
// CHECK:     sym_name = "gaps"
// CHECK:     %[[P:.*]] = "stablehlo.pad"(
// CHECK:     %[[A:.*]] = "stablehlo.add"(%{{.*}}, %[[P]]) {{.*}} -> tensor<50x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @gaps(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<50x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<20x3xf32>
  %y = stablehlo.constant dense<0.0> : tensor<50x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = "stablehlo.scatter"(%y, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<50x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<50x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<20x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<20x3xf32>
  %p = stablehlo.pad %s1, %none, low = [5, 0], high = [6, 0], interior = [1, 0] : (tensor<20x3xf32>, tensor<f32>) -> tensor<50x3xf32>
  %a = stablehlo.add %s0, %p : tensor<50x3xf32>
  return %a : tensor<50x3xf32>
}

// Columns, which no place names: slices of them would not be apart any more.
// CHECK:     sym_name = "columns"
// CHECK:     %[[P:.*]] = "stablehlo.pad"(
// CHECK:     %[[A:.*]] = "stablehlo.add"(%{{.*}}, %[[P]]) {{.*}} -> tensor<50x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @columns(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x2xf32>) -> (tensor<50x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<50x2xf32>
  %y = stablehlo.constant dense<0.0> : tensor<50x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = "stablehlo.scatter"(%y, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<50x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<50x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<50x2xf32>, tensor<5x1xi32>, tensor<5x2xf32>) -> tensor<50x2xf32>
  %p = stablehlo.pad %s1, %none, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<50x2xf32>, tensor<f32>) -> tensor<50x3xf32>
  %a = stablehlo.add %s0, %p : tensor<50x3xf32>
  return %a : tensor<50x3xf32>
}

// Places of 8 bits can't name all of the larger array.
// CHECK:     sym_name = "narrow"
// CHECK:     %[[P:.*]] = "stablehlo.pad"(
// CHECK:     %[[A:.*]] = "stablehlo.add"(%{{.*}}, %[[P]]) {{.*}} -> tensor<50x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @narrow(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi8>, %u0: tensor<5x3xf32>, %u1: tensor<5x3xf32>) -> (tensor<50x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %y = stablehlo.constant dense<0.0> : tensor<50x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = "stablehlo.scatter"(%y, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<50x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<50x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi8>, tensor<5x3xf32>) -> tensor<40x3xf32>
  %p = stablehlo.pad %s1, %none, low = [7, 0], high = [3, 0], interior = [0, 0] : (tensor<40x3xf32>, tensor<f32>) -> tensor<50x3xf32>
  %a = stablehlo.add %s0, %p : tensor<50x3xf32>
  return %a : tensor<50x3xf32>
}

// Windows that may reach beyond the end.
// CHECK:     sym_name = "windows"
// CHECK:     %[[P:.*]] = "stablehlo.pad"(
// CHECK:     %[[A:.*]] = "stablehlo.add"(%{{.*}}, %[[P]]) {{.*}} -> tensor<50x3xf32>
// CHECK:     "func.return"(%[[A]]
func.func @windows(%i0: tensor<5x1xi32>, %i1: tensor<5x1xi32>, %u0: tensor<5x3xf32>, %u1: tensor<5x2x3xf32>) -> (tensor<50x3xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<40x3xf32>
  %y = stablehlo.constant dense<0.0> : tensor<50x3xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %s0 = "stablehlo.scatter"(%y, %i0, %u0) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<50x3xf32>, tensor<5x1xi32>, tensor<5x3xf32>) -> tensor<50x3xf32>
  %s1 = "stablehlo.scatter"(%z, %i1, %u1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    %0 = stablehlo.add %old, %new : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<40x3xf32>, tensor<5x1xi32>, tensor<5x2x3xf32>) -> tensor<40x3xf32>
  %p = stablehlo.pad %s1, %none, low = [7, 0], high = [3, 0], interior = [0, 0] : (tensor<40x3xf32>, tensor<f32>) -> tensor<50x3xf32>
  %a = stablehlo.add %s0, %p : tensor<50x3xf32>
  return %a : tensor<50x3xf32>
}
