// A row of M X X^T that labels read, which is compared with what it is read from: as it is multiplied.
// RUN: %weir opt %s --pass=dce > %t.without
// RUN: %weir opt %s --pass=gram,dce > %t.with
// RUN: diff %t.without %t.with
module {
  func.func public @main(%x: tensor<3x90xf64>, %row: tensor<1x3xf64>) -> tensor<3x90xi1> {
    %xx = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x3xf64>
    %s = stablehlo.dot_general %xx, %x, contracting_dims = [1] x [0] : (tensor<3x3xf64>, tensor<3x90xf64>) -> tensor<3x90xf64>
    %t = stablehlo.dot_general %row, %s, contracting_dims = [1] x [0] : (tensor<1x3xf64>, tensor<3x90xf64>) -> tensor<1x90xf64>
    %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<1x90xf64>) -> tensor<3x90xf64>
    %c = stablehlo.compare GE, %s, %ts : (tensor<3x90xf64>, tensor<3x90xf64>) -> tensor<3x90xi1>
    return %c : tensor<3x90xi1>
  }
}
