// A comment, odd spacing: an untouched program keeps them.
func.func public @main(%a:   tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
