// Two chains of 4 MB: breadth first both are in memory at once, depth first one after the other.
func.func public @main(%x: tensor<1000xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<1000xf32>) -> tensor<1000x1000xf32>
  %2 = "stablehlo.fft"(%0) {fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 1000>} : (tensor<1000x1000xf32>) -> tensor<1000x501xcomplex<f32>>
  %3 = "stablehlo.fft"(%1) {fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 1000>} : (tensor<1000x1000xf32>) -> tensor<1000x501xcomplex<f32>>
  %4 = stablehlo.real %2 : (tensor<1000x501xcomplex<f32>>) -> tensor<1000x501xf32>
  %5 = stablehlo.real %3 : (tensor<1000x501xcomplex<f32>>) -> tensor<1000x501xf32>
  %6 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1000x501xf32>, tensor<f32>) -> tensor<f32>
  %7 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1000x501xf32>, tensor<f32>) -> tensor<f32>
  return %6, %7 : tensor<f32>, tensor<f32>
}
