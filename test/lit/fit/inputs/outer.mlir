func.func @main(%s: tensor<20000x4x60xf32>, %x: tensor<20000x4xf32>, %y: tensor<20000x60xf32>) -> tensor<20000x4x60xf32> {
  %p = stablehlo.dot_general %y, %x, batching_dims = [0] x [0], contracting_dims = [] x [] : (tensor<20000x60xf32>, tensor<20000x4xf32>) -> tensor<20000x60x4xf32>
  %t = stablehlo.transpose %p, dims = [0, 2, 1] : (tensor<20000x60x4xf32>) -> tensor<20000x4x60xf32>
  %r = stablehlo.add %s, %t : tensor<20000x4x60xf32>
  return %r : tensor<20000x4x60xf32>
}
