// The arithmetic that a generator is written out as gives the generator's bits, for each width.
// RUN: %python %S/same.py %weir %eval %s 0 --pass=bits,dce
module {
  func.func public @main(%x: tensor<f32>) -> (tensor<6x8xui32>, tensor<5x7xui32>, tensor<4x3xui64>, tensor<5x3xui32>, tensor<3xui64>) {
    %s = stablehlo.constant dense<[7, 81985529216486895, 5]> : tensor<3xui64>
    %t = stablehlo.constant dense<[9, 81985529216486895]> : tensor<2xui64>
    %s1, %0 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<6x8xui32>)
    %s2, %1 = stablehlo.rng_bit_generator %t, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x7xui32>)
    %s3, %2 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4x3xui64>)
    %s4, %3 = stablehlo.rng_bit_generator %t, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x3xui32>)
    return %0, %1, %2, %3, %s1 : tensor<6x8xui32>, tensor<5x7xui32>, tensor<4x3xui64>, tensor<5x3xui32>, tensor<3xui64>
  }
}
