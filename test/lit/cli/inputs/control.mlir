// A loop that reads %w, carries a matrix and counts; a case; a callback without a result.
func.func public @main(%x: tensor<8x8xf32> loc("model.py":3:1), %w: tensor<8x8xf32>, %i: tensor<i32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = "stablehlo.while"(%zero, %x, %w) ({
  ^bb0(%k: tensor<i32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %n = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %k, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%k: tensor<i32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("model \"a\".py":5:1)
    stablehlo.return %k1, %c, %b : tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>
  }) : (tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<8x8xf32>, tensor<8x8xf32>) loc("model.py":4:1)
  %s = "stablehlo.case"(%i) ({
    %t = stablehlo.tanh %r#1 : tensor<8x8xf32>
    stablehlo.return %t : tensor<8x8xf32>
  }, {
    stablehlo.return %r#2 : tensor<8x8xf32>
  }) : (tensor<i32>) -> tensor<8x8xf32>
  "stablehlo.custom_call"(%s) {call_target_name = "callback", has_side_effect = true} : (tensor<8x8xf32>) -> ()
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %s, %m : tensor<8x8xf32>, tensor<8xf32>
}
