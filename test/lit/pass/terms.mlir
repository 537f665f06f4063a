// A vector times the terms of a sum of matrices: what each is multiplied with, and what is left alone.
// RUN: %weir opt %s --pass=terms,dce | FileCheck %s
// RUN: %weir opt %s --pass=terms,dce --skip=terms | FileCheck %s --check-prefix=SKIP
// SKIP: "stablehlo.transpose"
// SKIP: tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>

module {
  // (a + a^T) / 2 in a while that hands it on: a itself is read, and nothing of its size is made.
  // CHECK: sym_name = "handed_on"
  // CHECK: ^bb0(%[[A:.*]]: tensor<4x4xf32>, %[[V:.*]]: tensor<4xf32>)
  // CHECK-NOT: -> tensor<4x4xf32>
  // CHECK: }, {
  // CHECK: ^bb0({{.*}} %[[X:.*]]: tensor<4xf32>)
  // CHECK: %[[L:.*]] = "stablehlo.dot_general"(%[[A]], %[[X]]) {{.*}}lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.dot_general"(%[[A]], %[[X]]) {{.*}}lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]
  // CHECK-NEXT: %[[S:.*]] = "stablehlo.add"(%[[L]], %[[R]])
  // CHECK: "stablehlo.divide"(%[[S]], {{.*}} -> tensor<4xf32>
  func.func public @handed_on(%a: tensor<4x4xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
    %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %sum = stablehlo.add %a, %t : tensor<4x4xf32>
    %two = stablehlo.constant dense<2.0> : tensor<4x4xf32>
    %mean = stablehlo.divide %sum, %two : tensor<4x4xf32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%i = %zero, %m = %mean, %x = %v) : tensor<i32>, tensor<4x4xf32>, tensor<4xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %j, %m, %y : tensor<i32>, tensor<4x4xf32>, tensor<4xf32>
    }
    return %0#2 : tensor<4xf32>
  }

  // p q - r on the right of two vectors, where r is the same in all rows: p q is never made, r meets
  // what x sums up to.
  // CHECK: sym_name = "factors"
  // CHECK: ^bb0(%[[P:.*]]: tensor<4x2xf64>, %[[Q:.*]]: tensor<2x5xf64>, %[[R:.*]]: tensor<5xf64>, %[[X:.*]]: tensor<3x4xf64>)
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.transpose"(%[[X]])
  // CHECK-NEXT: %[[NEAR:.*]] = "stablehlo.dot_general"(%[[P]], %[[T]]) {{.*}} -> tensor<2x3xf64>
  // CHECK-NEXT: "stablehlo.dot_general"(%[[Q]], %[[NEAR]]) {{.*}} -> tensor<5x3xf64>
  // CHECK: "stablehlo.reduce"(%[[T]], {{.*}} <{dimensions = array<i64: 0>}>
  // CHECK: "stablehlo.subtract"({{.*}} -> tensor<5x3xf64>
  // CHECK: "stablehlo.transpose"({{.*}} -> tensor<3x5xf64>
  func.func private @factors(%p: tensor<4x2xf64>, %q: tensor<2x5xf64>, %r: tensor<5xf64>, %x: tensor<3x4xf64>) -> tensor<3x5xf64> {
    %pq = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<4x2xf64>, tensor<2x5xf64>) -> tensor<4x5xf64>
    %rows = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<5xf64>) -> tensor<4x5xf64>
    %m = stablehlo.subtract %pq, %rows : tensor<4x5xf64>
    %0 = stablehlo.dot_general %x, %m, contracting_dims = [1] x [0] : (tensor<3x4xf64>, tensor<4x5xf64>) -> tensor<3x5xf64>
    return %0 : tensor<3x5xf64>
  }

  // What scales columns scales the vector, what scales rows the result.
  // CHECK: sym_name = "scales"
  // CHECK: ^bb0(%[[A:.*]]: tensor<4x5xf32>, %[[B:.*]]: tensor<4x5xf32>, %[[R:.*]]: tensor<5xf32>, %[[C:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<5xf32>)
  // CHECK-NEXT: %[[D:.*]] = "stablehlo.divide"(%[[X]], %[[R]])
  // CHECK-NEXT: "stablehlo.dot_general"(%[[A]], %[[D]])
  // CHECK-NEXT: %[[BX:.*]] = "stablehlo.dot_general"(%[[B]], %[[X]])
  // CHECK-NEXT: "stablehlo.multiply"(%[[BX]], %[[C]])
  func.func private @scales(%a: tensor<4x5xf32>, %b: tensor<4x5xf32>, %r: tensor<5xf32>, %c: tensor<4xf32>, %x: tensor<5xf32>) -> tensor<4xf32> {
    %rows = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
    %columns = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<4xf32>) -> tensor<4x5xf32>
    %1 = stablehlo.divide %a, %rows : tensor<4x5xf32>
    %2 = stablehlo.multiply %columns, %b : tensor<4x5xf32>
    %m = stablehlo.add %1, %2 : tensor<4x5xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // A product whose near side has the same in all rows: one number of it is enough for all of p's.
  // CHECK: sym_name = "alike"
  // CHECK: ^bb0(%[[A:.*]]: tensor<4x5xf32>, %[[P:.*]]: tensor<4x3xf32>, %[[R:.*]]: tensor<5xf32>, %[[X:.*]]: tensor<5xf32>)
  // CHECK-NEXT: %[[ONE:.*]] = "stablehlo.dot_general"(%[[R]], %[[X]]) {{.*}} -> tensor<f32>
  // CHECK-NEXT: %[[ALL:.*]] = "stablehlo.broadcast_in_dim"(%[[ONE]]) {{.*}} -> tensor<3xf32>
  // CHECK-NEXT: "stablehlo.dot_general"(%[[P]], %[[ALL]]) {{.*}} -> tensor<4xf32>
  func.func private @alike(%a: tensor<4x5xf32>, %p: tensor<4x3xf32>, %r: tensor<5xf32>, %x: tensor<5xf32>) -> tensor<4xf32> {
    %q = stablehlo.broadcast_in_dim %r, dims = [1] : (tensor<5xf32>) -> tensor<3x5xf32>
    %pq = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
    %m = stablehlo.add %pq, %a : tensor<4x5xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // Likewise of one row.
  // CHECK: sym_name = "outer"
  // CHECK-NOT: -> tensor<4x5xf32>
  // CHECK: "func.return"
  func.func private @outer(%a: tensor<4x5xf32>, %p: tensor<4x1xf32>, %q: tensor<1x5xf32>, %x: tensor<5x2xf32>) -> tensor<4x2xf32> {
    %pq = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<4x1xf32>, tensor<1x5xf32>) -> tensor<4x5xf32>
    %m = stablehlo.add %pq, %a : tensor<4x5xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x5xf32>, tensor<5x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }

  // Left alone: a term that is a function of each element, a mean of data, also within a product, a
  // difference of data, however it is written, no sum, a vector for each row, many vectors, f16.
  // CHECK: sym_name = "made"
  // CHECK: "stablehlo.add"({{.*}} -> tensor<4x4xf32>
  // CHECK-NEXT: "stablehlo.dot_general"
  // CHECK-NEXT: "func.return"
  func.func private @made(%a: tensor<4x4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %e = stablehlo.exponential %a : tensor<4x4xf32>
    %m = stablehlo.add %a, %e : tensor<4x4xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK: sym_name = "centred"
  // CHECK: "stablehlo.subtract"({{.*}} -> tensor<4x4xf32>
  func.func private @centred(%a: tensor<4x4xf32>, %mean: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %rows = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %m = stablehlo.subtract %a, %rows : tensor<4x4xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK: sym_name = "covariance"
  // CHECK: "stablehlo.subtract"({{.*}} -> tensor<4x4xf32>
  // CHECK: "stablehlo.add"({{.*}} -> tensor<4x4xf32>
  func.func private @covariance(%a: tensor<4x4xf32>, %mean: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %rows = stablehlo.broadcast_in_dim %mean, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %c = stablehlo.subtract %a, %rows : tensor<4x4xf32>
    %cc = stablehlo.dot_general %c, %c, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %m = stablehlo.add %cc, %a : tensor<4x4xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK: sym_name = "difference"
  // CHECK: "stablehlo.add"({{.*}} -> tensor<4x4xf32>
  // CHECK: "stablehlo.add"({{.*}} -> tensor<4x4xf32>
  func.func private @difference(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %minus = stablehlo.negate %b : tensor<4x4xf32>
    %m = stablehlo.add %a, %minus : tensor<4x4xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %by = stablehlo.constant dense<-2.0> : tensor<4x4xf32>
    %less = stablehlo.multiply %by, %b : tensor<4x4xf32>
    %n = stablehlo.add %less, %a : tensor<4x4xf32>
    %1 = stablehlo.dot_general %n, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }

  // CHECK: sym_name = "no_sum"
  // CHECK: "stablehlo.negate"({{.*}} -> tensor<4x4xf32>
  func.func private @no_sum(%a: tensor<4x4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %m = stablehlo.negate %a : tensor<4x4xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK: sym_name = "each_row"
  // CHECK: "stablehlo.add"({{.*}} -> tensor<4x4xf32>
  func.func private @each_row(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4xf32> {
    %m = stablehlo.add %a, %b : tensor<4x4xf32>
    %0 = stablehlo.dot_general %m, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }

  // CHECK: sym_name = "many"
  // CHECK: "stablehlo.add"({{.*}} -> tensor<4x4xf32>
  func.func private @many(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %x: tensor<4x17xf32>) -> tensor<4x17xf32> {
    %m = stablehlo.add %a, %b : tensor<4x4xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x17xf32>) -> tensor<4x17xf32>
    return %0 : tensor<4x17xf32>
  }

  // CHECK: sym_name = "narrow"
  // CHECK: "stablehlo.add"({{.*}} -> tensor<4x4xf16>
  func.func private @narrow(%a: tensor<4x4xf16>, %b: tensor<4x4xf16>, %x: tensor<4xf16>) -> tensor<4xf16> {
    %m = stablehlo.add %a, %b : tensor<4x4xf16>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf16>, tensor<4xf16>) -> tensor<4xf16>
    return %0 : tensor<4xf16>
  }

  // One-hot rows of a sum that is compared with what they read: elements of it, as it is rounded.
  // CHECK: sym_name = "compared"
  // CHECK: %[[SUM:.*]] = "stablehlo.add"
  // CHECK: "stablehlo.dot_general"(%{{.*}}, %[[SUM]])
  // CHECK-NOT: "stablehlo.dot_general"
  func.func public @compared(%a: tensor<4x4xf32>, %hot: tensor<1x4xi1>) -> tensor<4x4xi1> {
    %rows = stablehlo.convert %hot : (tensor<1x4xi1>) -> tensor<1x4xf32>
    %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = stablehlo.add %a, %t : tensor<4x4xf32>
    %r = stablehlo.dot_general %rows, %s, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x4xf32>) -> tensor<1x4xf32>
    %b = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
    %c = stablehlo.compare GE, %s, %b, FLOAT : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
    return %c : tensor<4x4xi1>
  }
}
