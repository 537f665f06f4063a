// products of many terms, where XLA's are fast
func.func @main(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<2048xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = stablehlo.tanh %0 : tensor<2048x2048xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x2048xf32>, tensor<f32>) -> tensor<2048xf32>
  return %2 : tensor<2048xf32>
}
