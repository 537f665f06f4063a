// Neutral elements: exactly where they are exact.
// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

module {
  // CHECK: sym_name = "integers"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "func.return"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0)
  func.func public @integers(%a: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
    %zero = stablehlo.constant dense<0> : tensor<2xi32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %all = stablehlo.constant dense<-1> : tensor<2xi32>
    %0 = stablehlo.add %a, %zero : tensor<2xi32>
    %1 = stablehlo.add %zero, %a : tensor<2xi32>
    %2 = stablehlo.multiply %ones, %a : tensor<2xi32>
    %3 = stablehlo.subtract %a, %zero : tensor<2xi32>
    %4 = stablehlo.divide %a, %ones : tensor<2xi32>
    %5 = stablehlo.or %a, %zero : tensor<2xi32>
    %6 = stablehlo.and %all, %a : tensor<2xi32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  }

  // CHECK: sym_name = "booleans"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "func.return"(%arg0, %arg0)
  func.func public @booleans(%a: tensor<2xi1>) -> (tensor<2xi1>, tensor<2xi1>) {
    %yes = stablehlo.constant dense<true> : tensor<2xi1>
    %no = stablehlo.constant dense<false> : tensor<2xi1>
    %0 = stablehlo.and %a, %yes : tensor<2xi1>
    %1 = stablehlo.xor %a, %no : tensor<2xi1>
    return %0, %1 : tensor<2xi1>, tensor<2xi1>
  }

  // x + -0.0, x - 0.0, x * 1, x / 1 are x for every float, also for -0.0, infinities and NaN.
  // CHECK: sym_name = "floats"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "func.return"(%arg0, %arg0, %arg0, %arg0, %arg1, %arg2, %arg3)
  func.func public @floats(%a: tensor<2xf32>, %d: tensor<2xf64>, %h: tensor<2xf16>, %b: tensor<2xbf16>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf64>, tensor<2xf16>, tensor<2xbf16>) {
    %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
    %minus_zero = stablehlo.constant dense<-0.0> : tensor<2xf32>
    %one = stablehlo.constant dense<1.0> : tensor<2xf32>
    %one_d = stablehlo.constant dense<1.0> : tensor<2xf64>
    %one_h = stablehlo.constant dense<1.0> : tensor<2xf16>
    %one_b = stablehlo.constant dense<1.0> : tensor<2xbf16>
    %0 = stablehlo.add %a, %minus_zero : tensor<2xf32>
    %1 = stablehlo.subtract %a, %zero : tensor<2xf32>
    %2 = stablehlo.multiply %a, %one : tensor<2xf32>
    %3 = stablehlo.divide %a, %one : tensor<2xf32>
    %4 = stablehlo.multiply %one_d, %d : tensor<2xf64>
    %5 = stablehlo.multiply %h, %one_h : tensor<2xf16>
    %6 = stablehlo.multiply %b, %one_b : tensor<2xbf16>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf64>, tensor<2xf16>, tensor<2xbf16>
  }

  // -0.0 + 0.0 is 0.0, 0 * inf is NaN, 0 - x and 1 / x are no x, a complex product adds zeros, and not every element is 1.
  // CHECK: sym_name = "not_exact"
  // CHECK: "stablehlo.add"
  // CHECK-NEXT: "stablehlo.multiply"
  // CHECK-NEXT: "stablehlo.subtract"
  // CHECK-NEXT: "stablehlo.subtract"
  // CHECK-NEXT: "stablehlo.divide"
  // CHECK-NEXT: "stablehlo.multiply"
  // CHECK-NEXT: "stablehlo.multiply"
  // CHECK-NEXT: "func.return"
  func.func public @not_exact(%a: tensor<2xf32>, %c: tensor<2xcomplex<f32>>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>, tensor<2xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
    %minus_zero = stablehlo.constant dense<-0.0> : tensor<2xf32>
    %one = stablehlo.constant dense<1.0> : tensor<2xf32>
    %one_c = stablehlo.constant dense<(1.0, 0.0)> : tensor<2xcomplex<f32>>
    %mixed = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = stablehlo.add %a, %zero : tensor<2xf32>
    %1 = stablehlo.multiply %a, %zero : tensor<2xf32>
    %2 = stablehlo.subtract %zero, %a : tensor<2xf32>
    %3 = stablehlo.subtract %a, %minus_zero : tensor<2xf32>
    %4 = stablehlo.divide %one, %a : tensor<2xf32>
    %5 = stablehlo.multiply %c, %one_c : tensor<2xcomplex<f32>>
    %6 = stablehlo.multiply %a, %mixed : tensor<2xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xcomplex<f32>>, tensor<2xf32>
  }
}
