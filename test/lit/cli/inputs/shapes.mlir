func.func public @main(%x: tensor<60x8xf32> {jax.buffer_donor = true} loc("model.py":1:1), %unused: tensor<7xf32>) -> (tensor<10x40xf32> {jax.result_info = "a"}, tensor<60xf32>) {
  %table = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %half = "stablehlo.slice"(%x) <{limit_indices = array<i64: 50, 8>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<60x8xf32>) -> tensor<50x8xf32>
  %flat = stablehlo.reshape %half : (tensor<50x8xf32>) -> tensor<10x40xf32>
  %sum = stablehlo.add %flat, %flat {mhlo.note = "kept for nobody"} : tensor<10x40xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rows = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<60x8xf32>, tensor<f32>) -> tensor<60xf32>
  return %sum, %rows : tensor<10x40xf32>, tensor<60xf32>
}
