// Sums of rows: what every portable artifact has.
module @plain {
  func.func public @main(%a: tensor<4x3xf32> {jax.arg_info = "a"}) -> (tensor<4xf32> {jax.result_info = "result"}) attributes {x.y = 3 : i32} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %e = stablehlo.exponential %a : tensor<4x3xf32>
    %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
