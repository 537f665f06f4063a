// exp(x y^T) v: a matrix of 4 MB between vectors.
func.func public @main(%x: tensor<1000x1xf32>, %y: tensor<1000x1xf32>, %v: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<1000x1xf32>, tensor<1000x1xf32>) -> tensor<1000x1000xf32>
  %1 = stablehlo.exponential %0 : tensor<1000x1000xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<1000x1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  return %2 : tensor<1000xf32>
}
