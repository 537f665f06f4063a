// Random bits are their generator's arithmetic of a counter.
// RUN: %weir opt %s --pass=bits | FileCheck %s
// RUN: %weir opt %s --pass=bits --platform=tpu | FileCheck %s --check-prefix=TPU

module {
  // Four words of a counter side by side; the counter starts at the state's and goes on from there.
  // CHECK: sym_name = "philox"
  // CHECK: "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<6x2xui64>
  // CHECK-COUNT-20: "stablehlo.multiply"({{.*}}) : (tensor<6x2xui64>, tensor<6x2xui64>) -> tensor<6x2xui64>
  // CHECK: "stablehlo.concatenate"({{.*}}) <{dimension = 2 : i64}> : {{.*}} -> tensor<6x2x4xui32>
  // CHECK: %[[B:.*]] = "stablehlo.reshape"({{.*}}) : (tensor<6x2x4xui32>) -> tensor<6x8xui32>
  // CHECK: %[[N:.*]] = "stablehlo.constant"() <{value = dense<12> : tensor<ui64>}>
  // CHECK: "stablehlo.add"(%{{.*}}, %[[N]])
  // CHECK: %[[S:.*]] = "stablehlo.concatenate"({{.*}}) -> tensor<3xui64>
  // CHECK: "func.return"(%[[S]], %[[B]])
  func.func @philox(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<6x8xui32>) {
    %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<6x8xui32>)
    return %0, %1 : tensor<3xui64>, tensor<6x8xui32>
  }

  // Where a counter's words go beyond a row, each element takes its own.
  // CHECK: sym_name = "philox_odd"
  // CHECK: %[[P:.*]] = "stablehlo.shift_right_logical"({{.*}}) : (tensor<6x7xui64>, tensor<6x7xui64>) -> tensor<6x7xui64>
  // CHECK: "stablehlo.select"
  // CHECK: "stablehlo.select"
  // CHECK: %[[B:.*]] = "stablehlo.select"({{.*}}) : (tensor<6x7xi1>, tensor<6x7xui32>, tensor<6x7xui32>) -> tensor<6x7xui32>
  // CHECK: "func.return"(%{{.*}}, %[[B]])
  func.func @philox_odd(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<6x7xui32>) {
    %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6x7xui32>)
    return %0, %1 : tensor<2xui64>, tensor<6x7xui32>
  }

  // CHECK: sym_name = "threefry"
  // CHECK: "stablehlo.concatenate"({{.*}}) <{dimension = 2 : i64}> : (tensor<5x3x1xui32>, tensor<5x3x1xui32>) -> tensor<5x3x2xui32>
  // CHECK: "stablehlo.reshape"({{.*}}) : (tensor<5x3x2xui32>) -> tensor<5x6xui32>
  func.func @threefry(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<5x6xui32>) {
    %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x6xui32>)
    return %0, %1 : tensor<2xui64>, tensor<5x6xui32>
  }

  // Philox on CPU; other platforms choose.
  // CHECK: sym_name = "default"
  // CHECK-NOT: rng_bit_generator
  // CHECK: "stablehlo.concatenate"({{.*}}) -> tensor<5x2x4xui32>
  // TPU: sym_name = "default"
  // TPU: "stablehlo.rng_bit_generator"
  func.func @default(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<5x8xui32>) {
    %0, %1 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x8xui32>)
    return %0, %1 : tensor<2xui64>, tensor<5x8xui32>
  }

  // Other words and states; no dimensions; nothing; no algorithm.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-6: "stablehlo.rng_bit_generator"
  func.func @left_alone(%s: tensor<2xui64>, %t: tensor<4xui64>, %u: tensor<3xui64>) {
    %2, %3 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x6xui16>)
    %4, %5 = stablehlo.rng_bit_generator %t, algorithm = PHILOX : (tensor<4xui64>) -> (tensor<4xui64>, tensor<5x6xui32>)
    %6, %7 = stablehlo.rng_bit_generator %u, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5x6xui32>)
    %8, %9 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %10, %11 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<0x6xui32>)
    %12, %13 = "stablehlo.rng_bit_generator"(%s) : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x6xui32>)
    return
  }
}
