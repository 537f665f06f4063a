// RUN: %weir opt %s --pass=once | FileCheck %s

module {
  // One trip, with a while of two inside; no trip; a counter that wraps: 120 + 10 is -126.
  // CHECK: sym_name = "main"
  // CHECK: %[[A:[0-9]+]] = "stablehlo.add"(%arg0, %arg0)
  // CHECK: "stablehlo.while"
  // CHECK: dense<2>
  // CHECK: "stablehlo.while"
  // CHECK: dense<125>
  // CHECK-NOT: "stablehlo.while"
  // CHECK: "func.return"({{.*}}, %arg0, {{.*}})
  func.func public @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %a:2 = stablehlo.while(%i = %z, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %n = stablehlo.constant dense<1> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.add %y, %y : tensor<8xf32>
      %t:2 = stablehlo.while(%k = %i, %w = %s) : tensor<i32>, tensor<8xf32>
      cond {
        %n = stablehlo.constant dense<2> : tensor<i32>
        %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %l = stablehlo.add %k, %one : tensor<i32>
        %u = stablehlo.multiply %w, %s : tensor<8xf32>
        stablehlo.return %l, %u : tensor<i32>, tensor<8xf32>
      }
      stablehlo.return %j, %t#1 : tensor<i32>, tensor<8xf32>
    }
    %three = stablehlo.constant dense<3> : tensor<i32>
    %b:2 = stablehlo.while(%i = %three, %y = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %n = stablehlo.constant dense<1> : tensor<i32>
      %d = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %d : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.add %y, %y : tensor<8xf32>
      stablehlo.return %j, %s : tensor<i32>, tensor<8xf32>
    }
    %first = stablehlo.constant dense<120> : tensor<i8>
    %e:2 = stablehlo.while(%i = %first, %y = %x) : tensor<i8>, tensor<8xf32>
    cond {
      %n = stablehlo.constant dense<125> : tensor<i8>
      %c = stablehlo.compare LT, %i, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %ten = stablehlo.constant dense<10> : tensor<i8>
      %j = stablehlo.add %i, %ten : tensor<i8>
      %s = stablehlo.multiply %y, %y : tensor<8xf32>
      stablehlo.return %j, %s : tensor<i8>, tensor<8xf32>
    }
    return %a#1, %b#1, %e#1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
