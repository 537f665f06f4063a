func.func @main(%x: tensor<3xf32>) -> tensor<100xf32> {
  %0:2 = stablehlo.custom_call @two(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<100xf32>)
  return %0#1 : tensor<100xf32>
}
