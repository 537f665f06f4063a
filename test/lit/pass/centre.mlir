// Products with a matrix of one number on the diagonal and one off it: the other side, and its sums.
// RUN: %weir opt %s --pass=centre,dce | FileCheck %s
// RUN: %weir opt %s --pass=centre,dce --skip=centre | FileCheck %s --check-prefix=SKIP
// SKIP-COUNT-10: "stablehlo.dot_general"

module {
  // x (I - 1/4)
  // CHECK: sym_name = "centred"
  // CHECK: ^bb0(%[[X:.*]]: tensor<3x4xf32>)
  // CHECK-NEXT: %[[ZERO:.*]] = "stablehlo.constant"
  // CHECK-NEXT: %[[S:.*]] = "stablehlo.reduce"(%[[X]], %[[ZERO]]) <{dimensions = array<i64: 1>}>
  // CHECK: %[[B:.*]] = "stablehlo.constant"() <{value = dense<-2.500000e-01> : tensor<3xf32>}>
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.multiply"(%[[S]], %[[B]])
  // CHECK-NEXT: %[[U:.*]] = "stablehlo.broadcast_in_dim"(%[[T]]) <{broadcast_dimensions = array<i64: 0>}>
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.add"(%[[X]], %[[U]])
  // CHECK-NEXT: "func.return"(%[[R]])
  func.func public @centred(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %i = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %j = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %e = stablehlo.compare EQ, %i, %j : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %eye = stablehlo.convert %e : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %one = stablehlo.constant dense<1.0> : tensor<4x4xf32>
    %four = stablehlo.constant dense<4.0> : tensor<4x4xf32>
    %q = stablehlo.divide %one, %four : tensor<4x4xf32>
    %h = stablehlo.subtract %eye, %q : tensor<4x4xf32>
    %0 = stablehlo.dot_general %x, %h, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
    return %0 : tensor<3x4xf32>
  }

  // On the left, the contracted dimension goes in front: -2 on the diagonal of a select, 3 off it.
  // CHECK: sym_name = "left"
  // CHECK: ^bb0(%[[X:.*]]: tensor<5x4x2xf64>)
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.transpose"(%[[X]]) <{permutation = array<i64: 1, 0, 2>}>
  // CHECK-NEXT: %[[A:.*]] = "stablehlo.constant"() <{value = dense<-5.000000e+00> : tensor<4x5x2xf64>}>
  // CHECK-NEXT: "stablehlo.multiply"(%[[T]], %[[A]])
  // CHECK: "stablehlo.reduce"(%[[X]], {{.*}} <{dimensions = array<i64: 1>}>
  // CHECK: dense<3.000000e+00> : tensor<5x2xf64>
  // CHECK: "stablehlo.broadcast_in_dim"({{.*}} <{broadcast_dimensions = array<i64: 1, 2>}>
  func.func private @left(%x: tensor<5x4x2xf64>) -> tensor<4x5x2xf64> {
    %i = stablehlo.iota dim = 0 : tensor<4xi64>
    %a = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<4xi64>) -> tensor<4x4xi64>
    %b = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<4xi64>) -> tensor<4x4xi64>
    %e = stablehlo.compare NE, %a, %b : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
    %three = stablehlo.constant dense<3.0> : tensor<4x4xf64>
    %two = stablehlo.constant dense<-2.0> : tensor<4x4xf64>
    %m = stablehlo.select %e, %three, %two : tensor<4x4xi1>, tensor<4x4xf64>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [1] : (tensor<4x4xf64>, tensor<5x4x2xf64>) -> tensor<4x5x2xf64>
    return %0 : tensor<4x5x2xf64>
  }

  // An identity is nothing; the square of a centring matrix has sums that are a number.
  // CHECK: sym_name = "identity"
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x3xf32>)
  // CHECK-NEXT: "func.return"(%[[X]])
  func.func private @identity(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %i = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %j = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %e = stablehlo.compare EQ, %j, %i : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %eye = stablehlo.convert %e : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %0 = stablehlo.dot_general %eye, %x, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }

  // CHECK: sym_name = "squared"
  // CHECK-NOT: dot_general
  // CHECK-NOT: reduce
  // CHECK: "func.return"
  func.func private @squared() -> tensor<4x4xf32> {
    %i = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %j = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %e = stablehlo.compare EQ, %i, %j : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %eye = stablehlo.convert %e : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %q = stablehlo.constant dense<0.25> : tensor<4x4xf32>
    %h = stablehlo.subtract %eye, %q : tensor<4x4xf32>
    %0 = stablehlo.dot_general %h, %h, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %0, %h, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }

  // Not square, a count of length 1 that is broadcast, a narrow count, another comparison, f16.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-5: "stablehlo.dot_general"
  func.func private @left_alone(%x: tensor<3x4xf32>, %y: tensor<3x4xf16>) -> (tensor<3x5xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf16>) {
    %i = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %j = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %wi = stablehlo.iota dim = 0 : tensor<4x5xi32>
    %wj = stablehlo.iota dim = 1 : tensor<4x5xi32>
    %we = stablehlo.compare EQ, %wi, %wj : (tensor<4x5xi32>, tensor<4x5xi32>) -> tensor<4x5xi1>
    %wide = stablehlo.convert %we : (tensor<4x5xi1>) -> tensor<4x5xf32>
    %0 = stablehlo.dot_general %x, %wide, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
    %k = stablehlo.iota dim = 0 : tensor<1x4xi32>
    %kk = stablehlo.broadcast_in_dim %k, dims = [0, 1] : (tensor<1x4xi32>) -> tensor<4x4xi32>
    %ke = stablehlo.compare EQ, %kk, %j : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %first = stablehlo.convert %ke : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %x, %first, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
    %ni = stablehlo.iota dim = 0 : tensor<4x4xi8>
    %nj = stablehlo.iota dim = 1 : tensor<4x4xi8>
    %ne = stablehlo.compare EQ, %ni, %nj : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi1>
    %narrow = stablehlo.convert %ne : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %2 = stablehlo.dot_general %x, %narrow, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
    %le = stablehlo.compare LE, %i, %j : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %upper = stablehlo.convert %le : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %3 = stablehlo.dot_general %x, %upper, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
    %e = stablehlo.compare EQ, %i, %j : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %half = stablehlo.convert %e : (tensor<4x4xi1>) -> tensor<4x4xf16>
    %4 = stablehlo.dot_general %y, %half, contracting_dims = [1] x [0] : (tensor<3x4xf16>, tensor<4x4xf16>) -> tensor<3x4xf16>
    return %0, %1, %2, %3, %4 : tensor<3x5xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf16>
  }
}
