func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %b : tensor<2xf32>
  return %0 : tensor<2xf32>
}
