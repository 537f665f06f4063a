// What a function takes in a kernel and in XLA's loop is known of each: a tanh is little faster in a kernel, a tangent
// thirty times as fast.
// REQUIRES: llvm
// RUN: %weir opt %s --memory-limit 1MB --tile auto --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s
// RUN: sed 's/stablehlo.tanh/stablehlo.tan/' %s | %weir opt - --memory-limit 1MB --tile auto --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s --check-prefix=TAN
// RUN: sed 's/stablehlo.tanh/stablehlo.log/' %s | %weir opt - --memory-limit 1MB --tile auto --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s --check-prefix=LOG
// CHECK: predicted gain 1.
// CHECK: weir_tile
// TAN: predicted gain {{[0-9][0-9]}}.
// TAN: weir_tile
// LOG: predicted gain {{[2-6]}}.
// LOG: weir_tile
func.func @main(%x: tensor<3000xf64>, %y: tensor<3000xf64>) -> tensor<3000xf64> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<3000xf64>) -> tensor<3000x3000xf64>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<3000xf64>) -> tensor<3000x3000xf64>
  %2 = stablehlo.multiply %0, %1 : tensor<3000x3000xf64>
  %3 = stablehlo.tanh %2 : tensor<3000x3000xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3000x3000xf64>, tensor<f64>) -> tensor<3000xf64>
  return %4 : tensor<3000xf64>
}
