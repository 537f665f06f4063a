// Zeros around a tensor, times a number that is no constant and times a row: the number goes inside,
// the row does not.
// RUN: %python %S/same.py %weir %eval %s 0 --pass=through-pad,dce
// RUN: %weir opt %s --pass=through-pad,dce | FileCheck %s
// CHECK: "stablehlo.multiply"({{.*}}) : (tensor<4x6xf32>
// CHECK: "stablehlo.multiply"({{.*}}) : (tensor<5x6xf32>
module {
  func.func public @main(%x: tensor<4x6xf32>, %c: tensor<f32>, %v: tensor<6xf32>, %w: tensor<6x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.pad %x, %z, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %c2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<5x6xf32>
    %v2 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<6xf32>) -> tensor<5x6xf32>
    %a = stablehlo.multiply %p, %c2 : tensor<5x6xf32>
    %b = stablehlo.multiply %p, %v2 : tensor<5x6xf32>
    %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
    %s = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<5x6xf32>, tensor<6x3xf32>) -> tensor<5x3xf32>
    return %r, %s : tensor<5x3xf32>, tensor<5x3xf32>
  }
}
