// A Fourier transform of all dimensions is one of each: forwards from the last, backwards from the first.
// RUN: %weir opt %s --pass=transforms --tensor-size-threshold 100 | FileCheck %s

module {
  // CHECK: sym_name = "forwards"
  // CHECK: %[[A:[0-9]+]] = "stablehlo.fft"(%arg0) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type FFT>}>
  // CHECK: %[[B:[0-9]+]] = "stablehlo.transpose"(%[[A]]) <{permutation = array<i64: 1, 0>}> : (tensor<8x6xcomplex<f32>>) -> tensor<6x8xcomplex<f32>>
  // CHECK: %[[C:[0-9]+]] = "stablehlo.fft"(%[[B]]) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type FFT>}>
  // CHECK: "stablehlo.transpose"(%[[C]])
  func.func @forwards(%x: tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>> {
    %0 = stablehlo.fft %x, type = FFT, length = [8, 6] : (tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
    return %0 : tensor<8x6xcomplex<f32>>
  }

  // CHECK: sym_name = "backwards"
  // CHECK: %[[A:[0-9]+]] = "stablehlo.transpose"(%arg0)
  // CHECK: %[[B:[0-9]+]] = "stablehlo.fft"(%[[A]]) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type IFFT>}>
  // CHECK: %[[C:[0-9]+]] = "stablehlo.transpose"(%[[B]])
  // CHECK: "stablehlo.fft"(%[[C]]) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type IFFT>}>
  func.func @backwards(%x: tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>> {
    %0 = stablehlo.fft %x, type = IFFT, length = [8, 6] : (tensor<8x6xcomplex<f32>>) -> tensor<8x6xcomplex<f32>>
    return %0 : tensor<8x6xcomplex<f32>>
  }

  // CHECK: sym_name = "of_real"
  // CHECK: "stablehlo.fft"(%arg0) <{fft_length = array<i64: 5>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x3xcomplex<f32>>
  // CHECK: "stablehlo.fft"(%{{.*}}) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<1x4x3x6xcomplex<f32>>)
  // CHECK: "stablehlo.fft"(%{{.*}}) <{fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<1x3x6x4xcomplex<f32>>)
  func.func @of_real(%x: tensor<1x4x6x5xf32>) -> tensor<1x4x6x3xcomplex<f32>> {
    %0 = stablehlo.fft %x, type = RFFT, length = [4, 6, 5] : (tensor<1x4x6x5xf32>) -> tensor<1x4x6x3xcomplex<f32>>
    return %0 : tensor<1x4x6x3xcomplex<f32>>
  }

  // CHECK: sym_name = "to_real"
  // CHECK: "stablehlo.fft"(%{{.*}}) <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<4x8xcomplex<f32>>)
  // CHECK: "stablehlo.fft"(%{{.*}}) <{fft_length = array<i64: 7>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<8x4xcomplex<f32>>) -> tensor<8x7xf32>
  func.func @to_real(%x: tensor<8x4xcomplex<f32>>) -> tensor<8x7xf32> {
    %0 = stablehlo.fft %x, type = IRFFT, length = [8, 7] : (tensor<8x4xcomplex<f32>>) -> tensor<8x7xf32>
    return %0 : tensor<8x7xf32>
  }

  // A batch has a factor.
  // CHECK: sym_name = "batch"
  // CHECK: fft_length = array<i64: 4, 6>
  func.func @batch(%x: tensor<2x4x6xcomplex<f32>>) -> tensor<2x4x6xcomplex<f32>> {
    %0 = stablehlo.fft %x, type = FFT, length = [4, 6] : (tensor<2x4x6xcomplex<f32>>) -> tensor<2x4x6xcomplex<f32>>
    return %0 : tensor<2x4x6xcomplex<f32>>
  }
}
