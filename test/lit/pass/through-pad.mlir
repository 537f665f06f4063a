// Zeros around a tensor move down to the results.
// RUN: %weir opt %s --pass=through-pad,dce | FileCheck %s
// RUN: %weir opt %s --pass=through-pad,dce --skip=through-pad | FileCheck %s --check-prefix=SKIP
// RUN: %weir opt %s --pass=through-pad,dce --tensor-size-threshold=100000 | FileCheck %s --check-prefix=SKIP
// SKIP: %[[P:.*]] = "stablehlo.pad"
// SKIP: "stablehlo.dot_general"(%[[P]], %arg

module {
  // Gradients of (h w)[:, :-1]. What is left of h gets NaN from what was cut; the padded row of the
  // other gradient is 0 times w.
  // CHECK: sym_name = "gradients"
  // CHECK: ^bb0(%[[D:.*]]: tensor<2x4x7xf32>, %[[H:.*]]: tensor<2x5x3xf32>, %[[W:.*]]: tensor<3x7xf32>)
  // CHECK-NOT: stablehlo.pad
  // CHECK: %[[S:.*]] = "stablehlo.slice"(%[[H]]) <{limit_indices = array<i64: 2, 4, 3>, start_indices = array<i64: 0, 0, 0>
  // CHECK-NEXT: %[[T:.*]] = "stablehlo.slice"(%[[H]]) <{limit_indices = array<i64: 2, 5, 3>, start_indices = array<i64: 0, 4, 0>
  // CHECK: %[[M:.*]] = "stablehlo.multiply"(%[[T]], %{{.*}})
  // CHECK: %[[R:.*]] = "stablehlo.reduce"(%[[M]], %{{.*}}) <{dimensions = array<i64: 1>}>
  // CHECK: %[[N:.*]] = "stablehlo.broadcast_in_dim"(%[[R]]) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<2x3xf32>) -> tensor<2x4x3xf32>
  // CHECK-NEXT: %[[A:.*]] = "stablehlo.add"(%[[S]], %[[N]])
  // CHECK-NEXT: %[[GW:.*]] = "stablehlo.dot_general"(%[[D]], %[[A]])
  // CHECK: %[[Z:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x7xf32>
  // CHECK-NEXT: %[[ROW:.*]] = "stablehlo.dot_general"(%[[Z]], %[[W]]){{.*}} -> tensor<1x1x3xf32>
  // CHECK-NEXT: %[[G:.*]] = "stablehlo.dot_general"(%[[D]], %[[W]]){{.*}} -> tensor<2x4x3xf32>
  // CHECK-NEXT: %[[B:.*]] = "stablehlo.broadcast_in_dim"(%[[ROW]]){{.*}} -> tensor<2x1x3xf32>
  // CHECK-NEXT: %[[GH:.*]] = "stablehlo.concatenate"(%[[G]], %[[B]]) <{dimension = 1 : i64}>
  // CHECK-NEXT: "func.return"(%[[GW]], %[[GH]])
  func.func public @gradients(%d: tensor<2x4x7xf32>, %h: tensor<2x5x3xf32>, %w: tensor<3x7xf32>) -> (tensor<7x3xf32>, tensor<2x5x3xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.pad %d, %z, low = [0, 0, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<2x4x7xf32>, tensor<f32>) -> tensor<2x5x7xf32>
    %1 = stablehlo.dot_general %0, %h, contracting_dims = [0, 1] x [0, 1] : (tensor<2x5x7xf32>, tensor<2x5x3xf32>) -> tensor<7x3xf32>
    %2 = stablehlo.dot_general %0, %w, contracting_dims = [2] x [1] : (tensor<2x5x7xf32>, tensor<3x7xf32>) -> tensor<2x5x3xf32>
    return %1, %2 : tensor<7x3xf32>, tensor<2x5x3xf32>
  }

  // Elementwise with numbers and with what is padded alike; a transpose, a reshape, sums.
  // CHECK: sym_name = "moves"
  // CHECK-NOT: stablehlo.pad
  // CHECK: %[[Q:.*]] = "stablehlo.multiply"(%arg{{[0-9]+}}, %arg{{[0-9]+}}) : (tensor<3x4xf32>
  // CHECK: "stablehlo.multiply"{{.*}}tensor<3x4xf32>
  // CHECK: "stablehlo.transpose"{{.*}} -> tensor<4x3xf32>
  // CHECK: "stablehlo.reshape"{{.*}} -> tensor<4x1x3xf32>
  // CHECK: "stablehlo.reduce"
  // CHECK: (tensor<4x1x3xf32>, tensor<f32>) -> tensor<1x3xf32>
  // CHECK: %[[L:.*]] = "stablehlo.pad"({{.*}}) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 0, 2>
  // CHECK: "func.return"(%[[L]])
  func.func private @moves(%x: tensor<3x4xf32>, %y: tensor<3x4xf32>) -> tensor<1x5xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %c = stablehlo.constant dense<3.0> : tensor<5x6xf32>
    %0 = stablehlo.pad %x, %z, low = [2, 0], high = [0, 2], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x6xf32>
    %1 = stablehlo.pad %y, %z, low = [2, 0], high = [0, 2], interior = [0, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<5x6xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<5x6xf32>
    %3 = stablehlo.multiply %2, %c : tensor<5x6xf32>
    %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<5x6xf32>) -> tensor<6x5xf32>
    %5 = stablehlo.reshape %4 : (tensor<6x5xf32>) -> tensor<6x1x5xf32>
    %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<6x1x5xf32>, tensor<f32>) -> tensor<1x5xf32>
    return %6 : tensor<1x5xf32>
  }

  // The fill is what the op makes of it; integers have no NaN.
  // CHECK: sym_name = "fills"
  // CHECK: %[[F:.*]] = "stablehlo.exponential"(%{{.*}}) : (tensor<f32>) -> tensor<f32>
  // CHECK: "stablehlo.pad"(%{{.*}}, %[[F]]){{.*}} -> tensor<6xf32>
  // CHECK: %[[S:.*]] = "stablehlo.slice"
  // CHECK-NEXT: "stablehlo.dot_general"(%arg{{[0-9]+}}, %[[S]])
  func.func private @fills(%x: tensor<4xf32>, %a: tensor<4xi32>, %b: tensor<6xi32>) -> (tensor<6xf32>, tensor<i32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %i = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.pad %x, %z, low = [1], high = [1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
    %1 = stablehlo.exponential %0 : tensor<6xf32>
    %2 = stablehlo.pad %a, %i, low = [1], high = [1], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<6xi32>
    %3 = stablehlo.dot_general %2, %b, contracting_dims = [0] x [0] : (tensor<6xi32>, tensor<6xi32>) -> tensor<i32>
    return %1, %3 : tensor<6xf32>, tensor<i32>
  }

  // Times something else in each place (0 times infinity); shifted against each other; ones; gaps;
  // a batch; a maximum; a reshape of rows; complex numbers; a result that is larger.
  // CHECK: sym_name = "left_alone"
  // CHECK: "stablehlo.multiply"{{.*}}tensor<5x4xf32>
  // CHECK: "stablehlo.add"{{.*}}tensor<5x4xf32>
  // CHECK: "stablehlo.dot_general"{{.*}}(tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  // CHECK: "stablehlo.negate"{{.*}}tensor<9x4xf32>
  // CHECK: "stablehlo.dot_general"{{.*}}(tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5xf32>
  // CHECK: (tensor<5x4xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK: "stablehlo.reshape"{{.*}} -> tensor<20xf32>
  // CHECK: "stablehlo.dot_general"{{.*}}(tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>)
  // CHECK: "stablehlo.dot_general"{{.*}}(tensor<5x4xf32>, tensor<4x9xf32>) -> tensor<5x9xf32>
  func.func private @left_alone(%x: tensor<4x4xf32>, %y: tensor<5x4xf32>, %u: tensor<4xcomplex<f32>>, %v: tensor<5xcomplex<f32>>, %w: tensor<4x9xf32>) -> (tensor<5x9xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<4x4xf32>, tensor<9x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<20xf32>, tensor<complex<f32>>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %c = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
    %0 = stablehlo.pad %x, %z, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x4xf32>
    %1 = stablehlo.multiply %0, %y : tensor<5x4xf32>
    %2 = stablehlo.pad %x, %z, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<5x4xf32>
    %4 = stablehlo.pad %x, %one, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<5x4xf32>
    %5 = stablehlo.dot_general %4, %y, contracting_dims = [0] x [0] : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.pad %x, %z, low = [1, 0], high = [1, 0], interior = [1, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<9x4xf32>
    %7 = stablehlo.negate %6 : tensor<9x4xf32>
    %8 = stablehlo.dot_general %0, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5xf32>
    %9 = stablehlo.reduce(%0 init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<5x4xf32>, tensor<f32>) -> tensor<4xf32>
    %10 = stablehlo.reshape %0 : (tensor<5x4xf32>) -> tensor<20xf32>
    %11 = stablehlo.pad %u, %c, low = [1], high = [0], interior = [0] : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<5xcomplex<f32>>
    %12 = stablehlo.dot_general %11, %v, contracting_dims = [0] x [0] : (tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>) -> tensor<complex<f32>>
    %13 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<5x4xf32>, tensor<4x9xf32>) -> tensor<5x9xf32>
    return %13, %1, %3, %5, %7, %8, %9, %10, %12 : tensor<5x9xf32>, tensor<5x4xf32>, tensor<5x4xf32>, tensor<4x4xf32>, tensor<9x4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<20xf32>, tensor<complex<f32>>
  }
}
