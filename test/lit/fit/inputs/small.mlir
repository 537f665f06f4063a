// values that stay in the caches
func.func @main(%q: tensor<4x256x64xf32>) -> tensor<4x256x64xf32> {
  %s = stablehlo.dot_general %q, %q, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf32>, tensor<4x256x64xf32>) -> tensor<4x256x256xf32>
  %e = stablehlo.exponential %s : tensor<4x256x256xf32>
  %o = stablehlo.dot_general %e, %q, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
  return %o : tensor<4x256x64xf32>
}
