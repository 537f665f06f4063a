// Squared distances of all pairs become a product; the tensor of differences is gone.
// RUN: %weir opt %s --pass=distance,dce | FileCheck %s
// RUN: %weir opt %s --pass=distance,dce --skip=distance | FileCheck %s --check-prefix=SKIP
// RUN: %weir opt %s --memory-limit=1GB --pass=distance,dce | FileCheck %s --check-prefix=SKIP
// SKIP-NOT: contracting_dimensions

module {
  // The common point, norms and product, what is lost in rounding set to 0; in f64.
  // CHECK: sym_name = "distances"
  // CHECK-NOT: x7x16x
  // CHECK: %[[X:.*]] = "stablehlo.convert"(%arg0) : (tensor<5x16xf32>) -> tensor<5x16xf64>
  // CHECK: %[[Y:.*]] = "stablehlo.convert"(%arg1) : (tensor<7x16xf32>) -> tensor<7x16xf64>
  // CHECK: "stablehlo.reduce"(%[[X]]
  // CHECK: "stablehlo.reduce_precision"({{.*}}) <{exponent_bits = 11 : i32, mantissa_bits = 0 : i32}> : (tensor<16xf64>) -> tensor<16xf64>
  // CHECK: "stablehlo.round_nearest_even"
  // CHECK: "stablehlo.is_finite"
  // CHECK: %[[XC:.*]] = "stablehlo.subtract"(%[[X]], {{.*}}) : (tensor<5x16xf64>
  // CHECK: %[[YC:.*]] = "stablehlo.subtract"(%[[Y]], {{.*}}) : (tensor<7x16xf64>
  // CHECK: %[[DOT:.*]] = "stablehlo.dot_general"({{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<5x16xf64>, tensor<7x16xf64>) -> tensor<5x7xf64>
  // CHECK: %[[D:.*]] = "stablehlo.add"({{.*}}, %[[DOT]])
  // CHECK: %[[SMALL:.*]] = "stablehlo.compare"(%[[D]], {{.*}}comparison_direction LT
  // CHECK: %[[R:.*]] = "stablehlo.select"(%[[SMALL]], {{.*}}, %[[D]])
  // CHECK: %[[F:.*]] = "stablehlo.convert"(%[[R]]) : (tensor<5x7xf64>) -> tensor<5x7xf32>
  // CHECK: "func.return"(%[[F]])
  func.func public @distances(%x: tensor<5x16xf32>, %y: tensor<7x16xf32>) -> tensor<5x7xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x16xf32>) -> tensor<5x7x16xf32>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x16xf32>) -> tensor<5x7x16xf32>
    %2 = stablehlo.subtract %0, %1 : tensor<5x7x16xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<5x7x16xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<5x7x16xf32>, tensor<f32>) -> tensor<5x7xf32>
    return %4 : tensor<5x7xf32>
  }

  // Another order of dimensions, a power, a scale, another initial value.
  // CHECK: sym_name = "spelled"
  // CHECK-NOT: x5x16x
  // CHECK: %[[DOT:.*]] = "stablehlo.dot_general"({{.*}}) -> tensor<7x5xf64>
  // CHECK: %[[R:.*]] = "stablehlo.select"({{.*}}) : (tensor<7x5xi1>
  // CHECK: %[[THREE:.*]] = "stablehlo.broadcast_in_dim"
  // CHECK-NEXT: %[[SUM:.*]] = "stablehlo.add"(%[[R]], %[[THREE]])
  // CHECK-NEXT: "func.return"(%[[SUM]])
  func.func public @spelled(%x: tensor<16x5xf64>, %y: tensor<7x16xf64>, %s: tensor<16xf64>) -> tensor<7x5xf64> {
    %three = stablehlo.constant dense<3.0> : tensor<f64>
    %two = stablehlo.constant dense<2.0> : tensor<7x5x16xf64>
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<16x5xf64>) -> tensor<5x16xf64>
    %1 = stablehlo.reshape %0 : (tensor<5x16xf64>) -> tensor<1x5x16xf64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x5x16xf64>) -> tensor<7x5x16xf64>
    %3 = stablehlo.broadcast_in_dim %y, dims = [0, 2] : (tensor<7x16xf64>) -> tensor<7x5x16xf64>
    %4 = stablehlo.subtract %2, %3 : tensor<7x5x16xf64>
    %5 = stablehlo.broadcast_in_dim %s, dims = [2] : (tensor<16xf64>) -> tensor<7x5x16xf64>
    %6 = stablehlo.divide %4, %5 : tensor<7x5x16xf64>
    %7 = stablehlo.abs %6 : tensor<7x5x16xf64>
    %8 = stablehlo.power %7, %two : tensor<7x5x16xf64>
    %9 = stablehlo.reduce(%8 init: %three) applies stablehlo.add across dimensions = [2] : (tensor<7x5x16xf64>, tensor<f64>) -> tensor<7x5xf64>
    return %9 : tensor<7x5xf64>
  }

  // g * (x - y) and (x - y) * g, added: twice the one. Not: g * (x - y) and g * g.
  // CHECK: sym_name = "twice"
  // CHECK-NOT: x7x16x
  // CHECK: "stablehlo.dot_general"{{.*}} : (tensor<5x7xf64>, tensor<7x16xf64>) -> tensor<5x16xf64>
  // CHECK: sym_name = "not_twice"
  // CHECK-NOT: dot_general
  func.func public @twice(%x: tensor<5x16xf64>, %y: tensor<7x16xf64>, %g: tensor<5x7xf64>) -> tensor<5x16xf64> {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x16xf64>) -> tensor<5x7x16xf64>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x16xf64>) -> tensor<5x7x16xf64>
    %2 = stablehlo.subtract %0, %1 : tensor<5x7x16xf64>
    %3 = stablehlo.broadcast_in_dim %g, dims = [0, 1] : (tensor<5x7xf64>) -> tensor<5x7x16xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<5x7x16xf64>
    %5 = stablehlo.multiply %2, %3 : tensor<5x7x16xf64>
    %6 = stablehlo.add %4, %5 : tensor<5x7x16xf64>
    %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x16xf64>
    return %7 : tensor<5x16xf64>
  }
  func.func public @not_twice(%x: tensor<5x16xf64>, %y: tensor<7x16xf64>, %g: tensor<5x7xf64>) -> tensor<5x16xf64> {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x16xf64>) -> tensor<5x7x16xf64>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x16xf64>) -> tensor<5x7x16xf64>
    %2 = stablehlo.subtract %0, %1 : tensor<5x7x16xf64>
    %3 = stablehlo.broadcast_in_dim %g, dims = [0, 1] : (tensor<5x7xf64>) -> tensor<5x7x16xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<5x7x16xf64>
    %5 = stablehlo.multiply %3, %3 : tensor<5x7x16xf64>
    %6 = stablehlo.add %4, %5 : tensor<5x7x16xf64>
    %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x16xf64>
    return %7 : tensor<5x16xf64>
  }

  // The gradient: sums of g times the difference.
  // CHECK: sym_name = "weighted"
  // CHECK-NOT: x7x16x
  // CHECK: "stablehlo.dot_general"({{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<5x7xf64>, tensor<7x16xf64>) -> tensor<5x16xf64>
  // CHECK: "stablehlo.subtract"({{.*}}) : (tensor<5x16xf64>, tensor<5x16xf64>) -> tensor<5x16xf64>
  func.func public @weighted(%x: tensor<5x16xf64>, %y: tensor<7x16xf64>, %g: tensor<5x7xf64>) -> tensor<5x16xf64> {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x16xf64>) -> tensor<5x7x16xf64>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x16xf64>) -> tensor<5x7x16xf64>
    %2 = stablehlo.subtract %0, %1 : tensor<5x7x16xf64>
    %3 = stablehlo.broadcast_in_dim %g, dims = [0, 1] : (tensor<5x7xf64>) -> tensor<5x7x16xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<5x7x16xf64>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x16xf64>
    return %5 : tensor<5x16xf64>
  }

  // The same with the product by g as a dot_general that sums nothing.
  // CHECK: sym_name = "weighted_by_dot"
  // CHECK-NOT: x7x16x
  // CHECK: "stablehlo.dot_general"({{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<5x7xf64>, tensor<7x16xf64>) -> tensor<5x16xf64>
  func.func public @weighted_by_dot(%x: tensor<5x16xf64>, %y: tensor<7x16xf64>, %g: tensor<5x7xf64>) -> tensor<5x16xf64> {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x16xf64>) -> tensor<5x7x16xf64>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x16xf64>) -> tensor<5x7x16xf64>
    %2 = stablehlo.subtract %0, %1 : tensor<5x7x16xf64>
    %3 = stablehlo.dot_general %g, %2, batching_dims = [0, 1] x [0, 1], contracting_dims = [] x [] : (tensor<5x7xf64>, tensor<5x7x16xf64>) -> tensor<5x7x16xf64>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x16xf64>
    return %4 : tensor<5x16xf64>
  }

  // Another exponent, another reducer, a root that sees f64, few dimensions, no differences.
  // CHECK: sym_name = "left_alone"
  // CHECK-NOT: dot_general
  func.func public @left_alone(%x: tensor<5x16xf64>, %y: tensor<7x16xf64>, %a: tensor<5x3xf64>, %b: tensor<7x3xf64>) -> (tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f64>
    %cube = stablehlo.constant dense<3.0> : tensor<5x7x16xf64>
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<5x16xf64>) -> tensor<5x7x16xf64>
    %1 = stablehlo.broadcast_in_dim %y, dims = [1, 2] : (tensor<7x16xf64>) -> tensor<5x7x16xf64>
    %2 = stablehlo.subtract %0, %1 : tensor<5x7x16xf64>
    %3 = stablehlo.power %2, %cube : tensor<5x7x16xf64>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x7xf64>
    %5 = stablehlo.multiply %2, %2 : tensor<5x7x16xf64>
    %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.maximum across dimensions = [2] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x7xf64>
    %7 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x7xf64>
    %8 = stablehlo.sqrt %7 : tensor<5x7xf64>
    %9 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<5x3xf64>) -> tensor<5x7x3xf64>
    %10 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<7x3xf64>) -> tensor<5x7x3xf64>
    %11 = stablehlo.subtract %9, %10 : tensor<5x7x3xf64>
    %12 = stablehlo.multiply %11, %11 : tensor<5x7x3xf64>
    %13 = stablehlo.reduce(%12 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<5x7x3xf64>, tensor<f64>) -> tensor<5x7xf64>
    %14 = stablehlo.multiply %0, %1 : tensor<5x7x16xf64>
    %15 = stablehlo.multiply %14, %14 : tensor<5x7x16xf64>
    %16 = stablehlo.reduce(%15 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<5x7x16xf64>, tensor<f64>) -> tensor<5x7xf64>
    return %4, %6, %8, %13, %16 : tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>, tensor<5x7xf64>
  }
}
