// What a product follows from: another one over the same long dimension, which is computed anyway.
// RUN: %weir opt %s --pass=gram,dce | FileCheck %s
// RUN: %weir opt %s --pass=gram,dce --skip=gram | FileCheck %s --check-prefix=SKIP
// SKIP-COUNT-2: "stablehlo.dot_general"{{.*}}tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>

module {
  // (m a + c y^T) . x^T / s, where a = x / s and a a^T is a result: one product of x with itself.
  // CHECK: sym_name = "gradient"
  // CHECK: ^bb0(%[[X:.*]]: tensor<3x90xf64>, %[[M:.*]]: tensor<3x3xf64>, %[[C:.*]]: tensor<3xf64>, %[[Y:.*]]: tensor<90xf64>, %[[S:.*]]: tensor<f64>)
  // CHECK-NOT: tensor<3x90xf64>, tensor<3x90xf64>)
  // CHECK: %[[XX:.*]] = "stablehlo.dot_general"(%[[X]], %[[X]])
  // CHECK-NEXT: %[[S0:.*]] = "stablehlo.broadcast_in_dim"(%[[S]]) {{.*}} -> tensor<3x3xf64>
  // CHECK-NEXT: %[[AX:.*]] = "stablehlo.divide"(%[[XX]], %[[S0]])
  // CHECK-NEXT: %[[S1:.*]] = "stablehlo.broadcast_in_dim"(%[[S]]) {{.*}} -> tensor<3x3xf64>
  // CHECK-NEXT: %[[AA:.*]] = "stablehlo.divide"(%[[AX]], %[[S1]])
  // CHECK-NEXT: %[[YX:.*]] = "stablehlo.dot_general"(%[[Y]], %[[X]]) {{.*}} -> tensor<3xf64>
  // CHECK-NEXT: %[[CX:.*]] = "stablehlo.dot_general"(%[[C]], %[[YX]]) {{.*}} -> tensor<3x3xf64>
  // CHECK-NEXT: %[[S2:.*]] = "stablehlo.broadcast_in_dim"(%[[S]]) {{.*}} -> tensor<3x3xf64>
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.divide"(%[[XX]], %[[S2]])
  // CHECK-NEXT: %[[MX:.*]] = "stablehlo.dot_general"(%[[M]], %[[T]]) {{.*}}lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]
  // CHECK-NEXT: %[[R:.*]] = "stablehlo.subtract"(%[[CX]], %[[MX]])
  // CHECK-NEXT: "func.return"(%[[AA]], %[[R]])
  func.func public @gradient(%x: tensor<3x90xf64>, %m: tensor<3x3xf64>, %c: tensor<3xf64>, %y: tensor<90xf64>, %s: tensor<f64>) -> (tensor<3x3xf64>, tensor<3x3xf64>) {
    %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f64>) -> tensor<3x90xf64>
    %a = stablehlo.divide %x, %0 : tensor<3x90xf64>
    %aa = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    %1 = stablehlo.dot_general %c, %y, contracting_dims = [] x [] : (tensor<3xf64>, tensor<90xf64>) -> tensor<3x90xf64>
    %2 = stablehlo.dot_general %m, %a, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x90xf64>) -> tensor<3x90xf64>
    %3 = stablehlo.subtract %1, %2 : tensor<3x90xf64>
    %4 = stablehlo.dot_general %3, %x, contracting_dims = [1] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    return %aa, %4 : tensor<3x3xf64>, tensor<3x3xf64>
  }

  // The sum on the right, columns in place of rows, a negation, and the product that is there the other way round.
  // CHECK: sym_name = "turned"
  // CHECK: ^bb0(%[[X:.*]]: tensor<90x3xf64>, %[[Z:.*]]: tensor<90x4xf64>, %[[M:.*]]: tensor<3x5xf64>)
  // CHECK: %[[XZ:.*]] = "stablehlo.dot_general"(%[[X]], %[[Z]]) {{.*}} -> tensor<3x4xf64>
  // CHECK-NEXT: %[[N:.*]] = "stablehlo.negate"(%[[XZ]])
  // CHECK-NEXT: %[[P:.*]] = "stablehlo.dot_general"(%[[M]], %[[XZ]]) <{{.*}}lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]{{.*}} -> tensor<5x4xf64>
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.transpose"(%[[P]])
  // CHECK-NEXT: "func.return"(%[[N]], %[[T]])
  func.func private @turned(%x: tensor<90x3xf64>, %z: tensor<90x4xf64>, %m: tensor<3x5xf64>) -> (tensor<3x4xf64>, tensor<4x5xf64>) {
    %n = stablehlo.negate %x : tensor<90x3xf64>
    %0 = stablehlo.dot_general %n, %z, contracting_dims = [0] x [0] : (tensor<90x3xf64>, tensor<90x4xf64>) -> tensor<3x4xf64>
    %1 = stablehlo.dot_general %x, %m, contracting_dims = [1] x [0] : (tensor<90x3xf64>, tensor<3x5xf64>) -> tensor<90x5xf64>
    %2 = stablehlo.dot_general %z, %1, contracting_dims = [0] x [0] : (tensor<90x4xf64>, tensor<90x5xf64>) -> tensor<4x5xf64>
    return %0, %2 : tensor<3x4xf64>, tensor<4x5xf64>
  }

  // The sum of all elements of m x times x / s, before and after the product that it is the trace of.
  // CHECK: sym_name = "traces"
  // CHECK-NOT: tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
  // CHECK: %[[P:.*]] = "stablehlo.dot_general"(%arg{{[0-9]+}}, %arg{{[0-9]+}}) {{.*}} -> tensor<3x3xf32>
  // CHECK: %[[MP:.*]] = "stablehlo.dot_general"(%arg{{[0-9]+}}, %[[P]])
  // CHECK: "stablehlo.select"(%{{[0-9]+}}, %[[MP]], %{{[0-9]+}})
  // CHECK: "stablehlo.select"(%{{[0-9]+}}, %[[MP]], %{{[0-9]+}})
  // CHECK-NOT: -> tensor<3x90xf32>
  // CHECK: "func.return"
  func.func private @traces(%x: tensor<3x90xf32>, %m: tensor<3x3xf32>, %s: tensor<f32>) -> (tensor<3x3xf32>, tensor<f32>, tensor<3x3xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %xx = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %0 = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x90xf32>
    %2 = stablehlo.divide %x, %1 : tensor<3x90xf32>
    %3 = stablehlo.multiply %0, %2 : tensor<3x90xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x90xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %6 = stablehlo.multiply %2, %0 : tensor<3x90xf32>
    %7 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x90xf32>, tensor<f32>) -> tensor<f32>
    return %xx, %4, %5, %7 : tensor<3x3xf32>, tensor<f32>, tensor<3x3xf32>, tensor<f32>
  }

  // A product that is larger than what it is made of: the sum of squares stays one.
  // CHECK: sym_name = "wide"
  // CHECK: %[[Q:.*]] = "stablehlo.multiply"(%[[X:.*]], %[[X]]) : (tensor<90x3xf32>
  // CHECK-NEXT: "stablehlo.reduce"(%[[Q]]
  func.func private @wide(%x: tensor<90x3xf32>) -> (tensor<90x90xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<90x3xf32>, tensor<90x3xf32>) -> tensor<90x90xf32>
    %1 = stablehlo.multiply %x, %x : tensor<90x3xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<90x3xf32>, tensor<f32>) -> tensor<f32>
    return %0, %2 : tensor<90x90xf32>, tensor<f32>
  }

  // What the program multiplies with itself only after it was scaled: x as it is may be too large for that.
  // CHECK: sym_name = "scaled"
  // CHECK: %[[A:.*]] = "stablehlo.divide"(%[[X:.*]], %{{[0-9]+}}) : (tensor<3x90xf32>
  // CHECK-NEXT: %[[AA:.*]] = "stablehlo.dot_general"(%[[A]], %[[A]])
  // CHECK-NEXT: %[[MA:.*]] = "stablehlo.dot_general"(%{{.*}}, %[[AA]])
  // CHECK-NEXT: %[[N:.*]] = "stablehlo.negate"(%[[MA]])
  // CHECK-NEXT: "func.return"(%[[AA]], %[[N]])
  func.func private @scaled(%x: tensor<3x90xf32>, %m: tensor<3x3xf32>, %s: tensor<f32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) {
    %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x90xf32>
    %a = stablehlo.divide %x, %0 : tensor<3x90xf32>
    %aa = stablehlo.dot_general %a, %a, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %1 = stablehlo.dot_general %m, %a, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %2 = stablehlo.negate %a : tensor<3x90xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    return %aa, %3 : tensor<3x3xf32>, tensor<3x3xf32>
  }

  // Differences of exact terms, of another matrix and of a mean: they may be small, and then x x^T is too rough for them.
  // CHECK: sym_name = "differences"
  // CHECK: %[[D:.*]] = "stablehlo.subtract"(%[[Z:.*]], %[[X:.*]]) : (tensor<3x90xf32>
  // CHECK: "stablehlo.dot_general"(%[[D]], %[[X]])
  // CHECK: %[[E:.*]] = "stablehlo.subtract"(%[[X]], %{{[0-9]+}}) : (tensor<3x90xf32>
  // CHECK: "stablehlo.dot_general"(%[[E]], %[[X]])
  // CHECK: "func.return"
  func.func private @differences(%x: tensor<3x90xf32>, %z: tensor<3x90xf32>, %c: tensor<3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<90xf32>
    %xx = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %zx = stablehlo.dot_general %z, %x, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %0 = stablehlo.subtract %z, %x : tensor<3x90xf32>
    %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %2 = stablehlo.dot_general %c, %one, contracting_dims = [] x [] : (tensor<3xf32>, tensor<90xf32>) -> tensor<3x90xf32>
    %3 = stablehlo.subtract %x, %2 : tensor<3x90xf32>
    %4 = stablehlo.dot_general %3, %x, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    return %xx, %zx, %1, %4 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
  }

  // A product times itself, though it follows from the one before it.
  // CHECK: sym_name = "square"
  // CHECK: %[[P:.*]] = "stablehlo.dot_general"(%[[M:.*]], %[[X:.*]]) {{.*}} -> tensor<3x90xf64>
  // CHECK: %[[G:.*]] = "stablehlo.dot_general"(%[[X]], %[[X]]) {{.*}} -> tensor<3x3xf64>
  // CHECK: "stablehlo.dot_general"(%[[M]], %[[G]]) {{.*}} -> tensor<3x3xf64>
  // CHECK-NEXT: "stablehlo.dot_general"(%[[P]], %[[P]]) {{.*}} -> tensor<3x3xf64>
  func.func private @square(%x: tensor<3x90xf64>, %m: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>) {
    %p = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x90xf64>) -> tensor<3x90xf64>
    %xx = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    %px = stablehlo.dot_general %p, %x, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    %pp = stablehlo.dot_general %p, %p, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    return %xx, %px, %pp : tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>
  }

  // Nothing that is there; a sum that is no longer than it is wide; an elementwise product with a matrix; f16; batches; another
  // algorithm.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-17: "stablehlo.dot_general"
  // CHECK-NOT: "stablehlo.dot_general"
  // CHECK: "func.return"
  func.func private @left_alone(%x: tensor<3x90xf64>, %m: tensor<3x3xf64>, %w: tensor<3x90xf64>, %s: tensor<3x3xf64>, %h: tensor<3x90xf16>, %k: tensor<3x3xf16>, %b: tensor<2x3x90xf64>, %l: tensor<2x3x3xf64>, %f: tensor<3x90xf32>, %g: tensor<3x3xf32>, %v: tensor<3x90xf64>) -> (tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf16>, tensor<3x3xf16>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf64>, tensor<3x3xf64>) {
    %0 = stablehlo.dot_general %m, %w, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x90xf64>) -> tensor<3x90xf64>
    %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    %ss = stablehlo.dot_general %s, %s, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %2 = stablehlo.dot_general %m, %s, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %3 = stablehlo.dot_general %2, %s, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
    %xx = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    %4 = stablehlo.multiply %x, %w : tensor<3x90xf64>
    %5 = stablehlo.dot_general %4, %x, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    %hh = stablehlo.dot_general %h, %h, contracting_dims = [1] x [1] : (tensor<3x90xf16>, tensor<3x90xf16>) -> tensor<3x3xf16>
    %6 = stablehlo.dot_general %k, %h, contracting_dims = [1] x [0] : (tensor<3x3xf16>, tensor<3x90xf16>) -> tensor<3x90xf16>
    %7 = stablehlo.dot_general %6, %h, contracting_dims = [1] x [1] : (tensor<3x90xf16>, tensor<3x90xf16>) -> tensor<3x3xf16>
    %bb = stablehlo.dot_general %b, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x90xf64>, tensor<2x3x90xf64>) -> tensor<2x3x3xf64>
    %8 = stablehlo.dot_general %l, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x3xf64>, tensor<2x3x90xf64>) -> tensor<2x3x90xf64>
    %9 = stablehlo.dot_general %8, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x3x90xf64>, tensor<2x3x90xf64>) -> tensor<2x3x3xf64>
    %ff = stablehlo.dot_general %f, %f, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %10 = stablehlo.dot_general %g, %f, contracting_dims = [1] x [0] : (tensor<3x3xf32>, tensor<3x90xf32>) -> tensor<3x90xf32>
    %11 = stablehlo.dot_general %10, %f, contracting_dims = [1] x [1] : (tensor<3x90xf32>, tensor<3x90xf32>) -> tensor<3x3xf32>
    %12 = stablehlo.dot_general %v, %w, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    return %1, %ss, %3, %xx, %5, %hh, %7, %bb, %9, %ff, %11, %12, %2 : tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf64>, tensor<3x3xf16>, tensor<3x3xf16>, tensor<2x3x3xf64>, tensor<2x3x3xf64>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf64>, tensor<3x3xf64>
  }
}
