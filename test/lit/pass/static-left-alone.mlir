// What is not known, or contradicts itself, stays as it came.
// RUN: %weir opt %s --pass=static | FileCheck %s

module {
  // CHECK: sym_name = "unknown"
  // CHECK: "stablehlo.real_dynamic_slice"
  // CHECK: "stablehlo.dynamic_reshape"
  func.func @unknown(%x: tensor<8xf32>, %at: tensor<1xi64>, %to: tensor<1xi64>, %n: tensor<1xi32>) -> (tensor<3xf32>, tensor<?xf32>) {
    %one = stablehlo.constant dense<1> : tensor<1xi64>
    %0 = stablehlo.real_dynamic_slice %x, %at, %to, %one : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xf32>
    %1 = stablehlo.dynamic_reshape %x, %n : (tensor<8xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %0, %1 : tensor<3xf32>, tensor<?xf32>
  }

  // Shapes that the constants contradict; bounds beyond the end; sums that wrap around.
  // CHECK: sym_name = "wrong"
  // CHECK: "stablehlo.dynamic_reshape"
  // CHECK: "stablehlo.dynamic_reshape"
  // CHECK: "stablehlo.real_dynamic_slice"
  // CHECK: "stablehlo.real_dynamic_slice"
  // CHECK: "stablehlo.dynamic_pad"
  func.func @wrong(%a: tensor<4x6xf32>, %x: tensor<8xf32>) -> (tensor<2x12xf32>, tensor<5x5xf32>, tensor<9xf32>, tensor<3xf32>, tensor<9xf32>) {
    %s = stablehlo.constant dense<[3, 8]> : tensor<2xi64>
    %0 = stablehlo.dynamic_reshape %a, %s : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<2x12xf32>
    %t = stablehlo.constant dense<5> : tensor<2xi64>
    %1 = stablehlo.dynamic_reshape %a, %t : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<5x5xf32>
    %none = stablehlo.constant dense<0> : tensor<1xi8>
    %one = stablehlo.constant dense<1> : tensor<1xi8>
    %nine = stablehlo.constant dense<9> : tensor<1xi8>
    %2 = stablehlo.real_dynamic_slice %x, %none, %nine, %one : (tensor<8xf32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<9xf32>
    %most = stablehlo.constant dense<127> : tensor<1xi8>
    %round = stablehlo.add %most, %one : tensor<1xi8>
    %three = stablehlo.constant dense<3> : tensor<1xi8>
    %3 = stablehlo.real_dynamic_slice %x, %round, %three, %one : (tensor<8xf32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<3xf32>
    %huge = stablehlo.constant dense<9223372036854775807> : tensor<1xi64>
    %no = stablehlo.constant dense<0> : tensor<1xi64>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %4 = stablehlo.dynamic_pad %x, %z, %huge, %huge, %huge : (tensor<8xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xf32>
    return %0, %1, %2, %3, %4 : tensor<2x12xf32>, tensor<5x5xf32>, tensor<9xf32>, tensor<3xf32>, tensor<9xf32>
  }

  // Eight is no number of four bits.
  // CHECK: sym_name = "four_bits"
  // CHECK: "stablehlo.real_dynamic_slice"
  func.func @four_bits(%x: tensor<12xf32>) -> tensor<3xf32> {
    %seven = stablehlo.constant dense<7> : tensor<1xi4>
    %one = stablehlo.constant dense<1> : tensor<1xi4>
    %four = stablehlo.constant dense<4> : tensor<1xi4>
    %from = stablehlo.add %seven, %one : tensor<1xi4>
    %to = stablehlo.add %seven, %four : tensor<1xi4>
    %0 = stablehlo.real_dynamic_slice %x, %from, %to, %one : (tensor<12xf32>, tensor<1xi4>, tensor<1xi4>, tensor<1xi4>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }

  // Operands of the wrong number, rank and element type.
  // CHECK: sym_name = "malformed"
  // CHECK: "stablehlo.dynamic_reshape"(%arg0)
  // CHECK: "stablehlo.dynamic_pad"(%arg0)
  // CHECK: "stablehlo.dynamic_iota"(%arg0)
  // CHECK: "stablehlo.real_dynamic_slice"
  func.func @malformed(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = "stablehlo.dynamic_reshape"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = "stablehlo.dynamic_pad"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.dynamic_iota"(%x) <{iota_dimension = 7 : i64}> : (tensor<8xf32>) -> tensor<8xf32>
    %c = stablehlo.constant dense<1> : tensor<i64>
    %3 = "stablehlo.real_dynamic_slice"(%x, %c, %c, %c) : (tensor<8xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<8xf32>
    return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
