// Of a case or if with a constant index only the branch that is taken stays.
// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

// CHECK: sym_name = "main"
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[S:.*]] = "stablehlo.sine"(%arg0)
// CHECK-NEXT: %[[C:.*]] = "stablehlo.cosine"(%[[S]])
// CHECK-NEXT: %[[T:.*]] = "stablehlo.tanh"(%arg0)
// CHECK-NEXT: %[[V:.*]] = "stablehlo.case"(%arg1)
// CHECK: "func.return"(%[[C]], %[[T]], %arg0, %[[V]])
func.func public @main(%x: tensor<2xf32>, %n: tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %many = stablehlo.constant dense<-7> : tensor<i32>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %index = "stablehlo.case"(%one) ({
    %0 = stablehlo.constant dense<1> : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }, {
    %0 = stablehlo.constant dense<0> : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  // An index that a branch gave; a branch in a branch.
  %1 = "stablehlo.case"(%index) ({
    %2 = stablehlo.sine %x : tensor<2xf32>
    %3 = "stablehlo.if"(%yes) ({
      %4 = stablehlo.cosine %2 : tensor<2xf32>
      stablehlo.return %4 : tensor<2xf32>
    }, {
      stablehlo.return %x : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    stablehlo.return %3 : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  // Out of range: the last one.
  %5:2 = "stablehlo.case"(%many) ({
    stablehlo.return %x, %x : tensor<2xf32>, tensor<2xf32>
  }, {
    %6 = stablehlo.tanh %x : tensor<2xf32>
    stablehlo.return %6, %x : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>)
  %7 = "stablehlo.case"(%n) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %1, %5#0, %5#1, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
