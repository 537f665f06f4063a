func.func @main(%x: tensor<10000xf32>, %v: tensor<10000xf32>) -> tensor<10000xf32> {
  %xi = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<10000xf32>) -> tensor<10000x10000xf32>
  %xj = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<10000xf32>) -> tensor<10000x10000xf32>
  %p = stablehlo.multiply %xi, %xj : tensor<10000x10000xf32>
  %k = stablehlo.exponential %p : tensor<10000x10000xf32>
  %y = stablehlo.dot_general %k, %v, contracting_dims = [1] x [0] : (tensor<10000x10000xf32>, tensor<10000xf32>) -> tensor<10000xf32>
  return %y : tensor<10000xf32>
}
