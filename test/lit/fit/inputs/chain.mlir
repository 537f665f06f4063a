// elementwise ops, a sum and its place among them: a result as large as what is read, which XLA fuses
func.func @main(%x: tensor<4000x4000xf32>) -> tensor<4000x4000xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.exponential %x : tensor<4000x4000xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4000x4000xf32>, tensor<f32>) -> tensor<4000xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4000xf32>) -> tensor<4000x4000xf32>
  %3 = stablehlo.divide %0, %2 : tensor<4000x4000xf32>
  return %3 : tensor<4000x4000xf32>
}
