// Complex numbers can be summed slice by slice.
// RUN: %weir opt %s --tensor-size-threshold 47 --tensor-split-size 96 --stop-after split | FileCheck %s
// CHECK: "weir.loop"
// CHECK: "stablehlo.multiply"({{.*}}) : (tensor<{{[0-9]+}}x6xcomplex<f32>>
// CHECK: "stablehlo.add"({{.*}}) : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
// CHECK: "weir.yield"
func.func public @main(%x: tensor<8xcomplex<f32>>, %y: tensor<6xcomplex<f32>>, %init: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %xs = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<8xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  %ys = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
  %k = stablehlo.multiply %xs, %ys : tensor<8x6xcomplex<f32>>
  %s = stablehlo.reduce(%k init: %init) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x6xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %s : tensor<complex<f32>>
}
