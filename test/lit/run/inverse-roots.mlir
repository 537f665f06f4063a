// Inverse roots in f64 are exact to the last bits or so, as made for the computer that runs this: processors with AVX-512 begin with an
// estimate of 14 bits.
// REQUIRES: llvm
// RUN: %python %S/same.py %weir %eval %s 1 --tensor-size-threshold 9000 --tile on
func.func @main(%x: tensor<70xf64>, %y: tensor<90xf64>) -> tensor<70xf64> {
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %five = stablehlo.constant dense<5.0> : tensor<70x90xf64>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<70xf64>) -> tensor<70x90xf64>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<90xf64>) -> tensor<70x90xf64>
  %2 = stablehlo.add %0, %1 : tensor<70x90xf64>
  %3 = stablehlo.add %2, %five : tensor<70x90xf64>
  %4 = stablehlo.rsqrt %3 : tensor<70x90xf64>
  %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<70x90xf64>, tensor<f64>) -> tensor<70xf64>
  return %5 : tensor<70xf64>
}
