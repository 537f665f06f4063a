// an op that tiles lack reads the large value
func.func @main(%q: tensor<2048x3xf32>, %v: tensor<2048xf32>) -> tensor<2048xf32> {
  %s = stablehlo.dot_general %q, %q, contracting_dims = [1] x [1] : (tensor<2048x3xf32>, tensor<2048x3xf32>) -> tensor<2048x2048xf32>
  %e = stablehlo.reverse %s, dims = [1] : tensor<2048x2048xf32>
  %o = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048xf32>) -> tensor<2048xf32>
  return %o : tensor<2048xf32>
}
