// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

module {
  // A border reflected at both ends: the second end reads what the first was put to.
  // CHECK: sym_name = "reflected"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[A:[0-9]+]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 3, 9>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}>
  // CHECK-NEXT: %[[B:[0-9]+]] = "stablehlo.reverse"(%[[A]])
  // CHECK-NEXT: %[[C:[0-9]+]] = "stablehlo.concatenate"(%[[B]], %arg0)
  // CHECK-NEXT: %[[D:[0-9]+]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 7, 9>, start_indices = array<i64: 5, 0>, strides = array<i64: 1, 1>}>
  // CHECK-NEXT: %[[E:[0-9]+]] = "stablehlo.reverse"(%[[D]])
  // CHECK-NEXT: "stablehlo.concatenate"(%[[C]], %[[E]])
  func.func public @reflected(%a: tensor<8x9xf32>) -> tensor<12x9xf32> {
    %0 = stablehlo.slice %a [1:3, 0:9] : (tensor<8x9xf32>) -> tensor<2x9xf32>
    %1 = stablehlo.reverse %0, dims = [0] : tensor<2x9xf32>
    %2 = stablehlo.concatenate %1, %a, dim = 0 : (tensor<2x9xf32>, tensor<8x9xf32>) -> tensor<10x9xf32>
    %3 = stablehlo.slice %2 [7:9, 0:9] : (tensor<10x9xf32>) -> tensor<2x9xf32>
    %4 = stablehlo.reverse %3, dims = [0] : tensor<2x9xf32>
    %5 = stablehlo.concatenate %2, %4, dim = 0 : (tensor<10x9xf32>, tensor<2x9xf32>) -> tensor<12x9xf32>
    return %5 : tensor<12x9xf32>
  }

  // A part is a whole operand; steps within one; what lies across two stays.
  // CHECK: sym_name = "ends"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[W:[0-9]+]] = "stablehlo.concatenate"(%arg0, %arg1)
  // CHECK-NEXT: %[[S:[0-9]+]] = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 2, 3>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 2>}>
  // CHECK-NEXT: %[[T:[0-9]+]] = "stablehlo.slice"(%[[W]]) <{limit_indices = array<i64: 2, 6>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}>
  // CHECK-NEXT: "func.return"(%arg0, %arg1, %[[S]], %[[T]])
  func.func public @ends(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x4xf32>, tensor<1x2xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    %1 = stablehlo.slice %0 [0:2, 0:3] : (tensor<2x7xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.slice %0 [0:2, 3:7] : (tensor<2x7xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.slice %0 [1:2, 3:6:2] : (tensor<2x7xf32>) -> tensor<1x2xf32>
    %4 = stablehlo.slice %0 [0:2, 2:6] : (tensor<2x7xf32>) -> tensor<2x4xf32>
    return %1, %2, %3, %4 : tensor<2x3xf32>, tensor<2x4xf32>, tensor<1x2xf32>, tensor<2x4xf32>
  }

  // At known starts, from where they are clamped to; what data says and what no i64 holds stay.
  // CHECK: sym_name = "known"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[C:[0-9]+]] = "stablehlo.constant"() <{value = dense<18446744073709551615> : tensor<ui64>}>
  // CHECK-NEXT: %[[I:[0-9]+]] = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}>
  // CHECK-NEXT: %[[K:[0-9]+]] = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 8, 4>, start_indices = array<i64: 5, 0>, strides = array<i64: 1, 1>}>
  // CHECK-NEXT: %[[D:[0-9]+]] = "stablehlo.dynamic_slice"(%arg0, %[[I]], %arg1)
  // CHECK-NEXT: %[[U:[0-9]+]] = "stablehlo.dynamic_slice"(%arg0, %[[C]], %[[C]])
  // CHECK-NEXT: "func.return"(%[[K]], %[[D]], %[[U]])
  func.func public @known(%a: tensor<8x9xf32>, %i: tensor<i32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
    %m = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    %h = stablehlo.constant dense<100> : tensor<i32>
    %n = stablehlo.constant dense<-2> : tensor<i32>
    %0 = stablehlo.dynamic_slice %a, %h, %n, sizes = [3, 4] : (tensor<8x9xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %1 = stablehlo.dynamic_slice %a, %h, %i, sizes = [3, 4] : (tensor<8x9xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
    %2 = stablehlo.dynamic_slice %a, %m, %m, sizes = [3, 4] : (tensor<8x9xf32>, tensor<ui64>, tensor<ui64>) -> tensor<3x4xf32>
    return %0, %1, %2 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
  }
}
