// A jitted function inside a jitted function: its ops know their line in the source by the call alone.
func.func public @main(%x: tensor<1000x1xf32>, %v: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = func.call @kernel(%x) : (tensor<1000x1xf32>) -> tensor<1000x1000xf32> loc("model.py":12:3)
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] : (tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32> loc("model.py":13:3)
  return %1 : tensor<1000xf32>
}
func.func private @kernel(%x: tensor<1000x1xf32>) -> tensor<1000x1000xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<1000x1xf32>, tensor<1000x1xf32>) -> tensor<1000x1000xf32>
  %1 = stablehlo.exponential %0 : tensor<1000x1000xf32>
  return %1 : tensor<1000x1000xf32>
}
