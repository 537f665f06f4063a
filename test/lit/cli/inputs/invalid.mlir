func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.tanh"(%a) : (tensor<2xf32>) -> tensor<3xf32> loc("model.py":7:1)
  return %a : tensor<2xf32>
}
