// What the loop begins with is the program's own call of the state. It is no wait: it stays, and nothing is waited for.
// RUN: %weir opt %s --tensor-size-threshold 20kB --skip kernels | FileCheck %s

// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<300xf64>, %{{.*}}: tensor<f64>):
// CHECK:      ^bb0(%{{.*}}: tensor<i64>, %[[U:[a-z0-9]+]]: tensor<300xf64>, %{{.*}}: tensor<f64>):
// CHECK:      %[[S:[0-9]+]] = "func.call"(%[[U]], %{{[a-z0-9]+}}) <{callee = @scaled}>
// CHECK:      "stablehlo.while"(%{{[0-9]+}}, %[[S]])
// CHECK:      "stablehlo.scatter"

func.func private @scaled(%u: tensor<300xf64>, %x: tensor<300xf64>) -> tensor<300xf64> attributes {no_inline} {
  %a = stablehlo.multiply %u, %x : tensor<300xf64>
  return %a : tensor<300xf64>
}
func.func public @main(%u0: tensor<300xf64>, %x: tensor<300xf64>, %idx: tensor<200xi64>) -> (tensor<300xf64>, tensor<f64>) {
  %i0 = stablehlo.constant dense<0> : tensor<i64>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %n = stablehlo.constant dense<3> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %r:3 = stablehlo.while(%i = %i0, %u = %u0, %p = %z) : tensor<i64>, tensor<300xf64>, tensor<f64>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = func.call @scaled(%u, %x) : (tensor<300xf64>, tensor<300xf64>) -> tensor<300xf64>
    %q = stablehlo.reduce(%u init: %z) applies stablehlo.add across dimensions = [0] : (tensor<300xf64>, tensor<f64>) -> tensor<f64>
    %q2 = stablehlo.add %p, %q : tensor<f64>
    %xs = stablehlo.slice %x [0:200] : (tensor<300xf64>) -> tensor<200xf64>
    %b1 = stablehlo.broadcast_in_dim %xs, dims = [0] : (tensor<200xf64>) -> tensor<200x200xf64>
    %b2 = stablehlo.broadcast_in_dim %xs, dims = [1] : (tensor<200xf64>) -> tensor<200x200xf64>
    %bm = stablehlo.multiply %b1, %b2 : tensor<200x200xf64>
    %be = stablehlo.sine %bm : tensor<200x200xf64>
    %flat = stablehlo.reshape %be : (tensor<200x200xf64>) -> tensor<40000xf64>
    %i1 = stablehlo.broadcast_in_dim %idx, dims = [0] : (tensor<200xi64>) -> tensor<200x200x1xi64>
    %next = "stablehlo.scatter"(%s, %i1, %be) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %t = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %t : tensor<f64>
    }) : (tensor<300xf64>, tensor<200x200x1xi64>, tensor<200x200xf64>) -> tensor<300xf64>
    %j = stablehlo.add %i, %one : tensor<i64>
    stablehlo.return %j, %next, %q2 : tensor<i64>, tensor<300xf64>, tensor<f64>
  }
  return %r#1, %r#2 : tensor<300xf64>, tensor<f64>
}
