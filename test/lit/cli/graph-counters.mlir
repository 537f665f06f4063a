// RUN: %weir graph %s | FileCheck %s
// A label says how far a loop counts only where the bound is an integer: not 1092616192 for 10.0.
// CHECK: label="while i < -3"
// CHECK: label="while"
func.func public @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = stablehlo.constant dense<-9> : tensor<i8>
  %b = stablehlo.constant dense<0.0> : tensor<f32>
  %r:2 = "stablehlo.while"(%a, %x) ({
  ^bb0(%k: tensor<i8>, %y: tensor<8xf32>):
    %n = stablehlo.constant dense<-3> : tensor<i8>
    %p = stablehlo.compare LT, %k, %n, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%k: tensor<i8>, %y: tensor<8xf32>):
    %one = stablehlo.constant dense<1> : tensor<i8>
    %k1 = stablehlo.add %k, %one : tensor<i8>
    %z = stablehlo.sine %y : tensor<8xf32>
    stablehlo.return %k1, %z : tensor<i8>, tensor<8xf32>
  }) : (tensor<i8>, tensor<8xf32>) -> (tensor<i8>, tensor<8xf32>)
  %s:2 = "stablehlo.while"(%b, %x) ({
  ^bb0(%k: tensor<f32>, %y: tensor<8xf32>):
    %n = stablehlo.constant dense<10.0> : tensor<f32>
    %p = stablehlo.compare LT, %k, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%k: tensor<f32>, %y: tensor<8xf32>):
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %k1 = stablehlo.add %k, %one : tensor<f32>
    %z = stablehlo.cosine %y : tensor<8xf32>
    stablehlo.return %k1, %z : tensor<f32>, tensor<8xf32>
  }) : (tensor<f32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
  return %r#1, %s#1 : tensor<8xf32>, tensor<8xf32>
}
