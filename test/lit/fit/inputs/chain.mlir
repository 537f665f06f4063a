// elementwise ops and a sum, which XLA fuses
func.func @main(%x: tensor<4000x4000xf32>) -> tensor<4000xf32> {
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.sine %x : tensor<4000x4000xf32>
  %1 = stablehlo.add %0, %x : tensor<4000x4000xf32>
  %2 = stablehlo.tanh %1 : tensor<4000x4000xf32>
  %3 = stablehlo.multiply %2, %0 : tensor<4000x4000xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4000x4000xf32>, tensor<f32>) -> tensor<4000xf32>
  return %4 : tensor<4000xf32>
}
