// Products that stay as they are: byte for byte as without the pass.
// RUN: %weir opt %s --pass=dce > %t.without
// RUN: %weir opt %s --pass=chain,dce > %t.with
// RUN: diff %t.without %t.with
//
// Nor are tensors touched that the splitter would leave alone.
// RUN: %weir opt %p/chain.mlir --pass=dce > %t.without
// RUN: %weir opt %p/chain.mlir --pass=chain,dce --tensor-size-threshold=1MB > %t.with
// RUN: diff %t.without %t.with

module {
  // Fewer operations, but not by much.
  func.func public @little(%a: tensor<30x25xf32>, %b: tensor<25x30xf32>, %c: tensor<30x20xf32>) -> tensor<30x20xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<30x25xf32>, tensor<25x30xf32>) -> tensor<30x30xf32>
    %1 = stablehlo.dot_general %0, %c, contracting_dims = [1] x [0] : (tensor<30x30xf32>, tensor<30x20xf32>) -> tensor<30x20xf32>
    return %1 : tensor<30x20xf32>
  }

  // The product is there anyway, and small; products of different precision; of different types.
  func.func public @others(%a: tensor<40x2xf32>, %b: tensor<2x40xf32>, %c: tensor<40xf32>, %d: tensor<40xf64>, %h: tensor<40x2xbf16>, %k: tensor<2x40xbf16>, %l: tensor<40xbf16>) -> (tensor<2x2xf32>, tensor<2x40xf32>, tensor<40xf32>, tensor<40xf64>, tensor<40xbf16>) {
    %0 = stablehlo.dot_general %b, %a, contracting_dims = [1] x [0] : (tensor<2x40xf32>, tensor<40x2xf32>) -> tensor<2x2xf32>
    %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x40xf32>) -> tensor<2x40xf32>
    %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf32>
    %3 = stablehlo.dot_general %2, %c, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %4 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf64>
    %5 = stablehlo.dot_general %4, %d, contracting_dims = [1] x [0] : (tensor<40x40xf64>, tensor<40xf64>) -> tensor<40xf64>
    %6 = stablehlo.dot_general %h, %k, contracting_dims = [1] x [0] : (tensor<40x2xbf16>, tensor<2x40xbf16>) -> tensor<40x40xbf16>
    %7 = stablehlo.dot_general %6, %l, contracting_dims = [1] x [0] : (tensor<40x40xbf16>, tensor<40xbf16>) -> tensor<40xbf16>
    return %0, %1, %3, %5, %7 : tensor<2x2xf32>, tensor<2x40xf32>, tensor<40xf32>, tensor<40xf64>, tensor<40xbf16>
  }

  // The product is used in a loop; the product in the body would be cheaper, but it would run in every trip.
  func.func public @below(%a: tensor<40x2xf32>, %b: tensor<2x40xf32>, %c: tensor<40xf32>) -> tensor<40xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf32>
    %n = stablehlo.constant dense<3> : tensor<i32>
    %1:2 = "stablehlo.while"(%n, %c) ({
    ^bb0(%i: tensor<i32>, %x: tensor<40xf32>):
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %2 = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<40xf32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.subtract %i, %one : tensor<i32>
      %3 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
      stablehlo.return %2, %3 : tensor<i32>, tensor<40xf32>
    }) : (tensor<i32>, tensor<40xf32>) -> (tensor<i32>, tensor<40xf32>)
    return %1#1 : tensor<40xf32>
  }

  // Operands of a product with attributes that we don't know; of no elements.
  func.func public @strange(%a: tensor<40x2xf32>, %b: tensor<2x40xf32>, %c: tensor<40xf32>, %e: tensor<0x40xf32>, %f: tensor<40x0xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {unknown = 1 : i64} : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf32>
    %1 = stablehlo.dot_general %0, %c, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
    %2 = stablehlo.dot_general %f, %e, contracting_dims = [1] x [0] : (tensor<40x0xf32>, tensor<0x40xf32>) -> tensor<40x40xf32>
    %3 = stablehlo.dot_general %2, %c, contracting_dims = [1] x [0] : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40xf32>
    return %1, %3 : tensor<40xf32>, tensor<40xf32>
  }

  // One-hot rows of a product that is compared with what they read: elements of it, not of another order.
  func.func public @compared(%a: tensor<40x2xf32>, %b: tensor<2x40xf32>, %hot: tensor<1x40xi1>) -> tensor<40x40xi1> {
    %rows = stablehlo.convert %hot : (tensor<1x40xi1>) -> tensor<1x40xf32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf32>
    %1 = stablehlo.dot_general %rows, %0, contracting_dims = [1] x [0] : (tensor<1x40xf32>, tensor<40x40xf32>) -> tensor<1x40xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<40x40xf32>
    %3 = stablehlo.compare GE, %0, %2, FLOAT : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xi1>
    return %3 : tensor<40x40xi1>
  }

  // The same of rows that are data, and of what is compared as the sign of a difference.
  func.func public @labels(%a: tensor<40x2xf32>, %b: tensor<2x40xf32>, %row: tensor<1x40xf32>) -> tensor<40x40xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<40x2xf32>, tensor<2x40xf32>) -> tensor<40x40xf32>
    %1 = stablehlo.dot_general %row, %0, contracting_dims = [1] x [0] : (tensor<1x40xf32>, tensor<40x40xf32>) -> tensor<1x40xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x40xf32>) -> tensor<40x40xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<40x40xf32>
    %4 = stablehlo.sign %3 : tensor<40x40xf32>
    return %4 : tensor<40x40xf32>
  }
}
