// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

module {
  // CHECK: sym_name = "identities"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "func.return"(%arg0, %arg0, %arg0, %arg0, %arg0, %arg0)
  func.func public @identities(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.convert %a : tensor<2x3xf32>
    %1 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.transpose %a, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = stablehlo.slice %a [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.concatenate %a, dim = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }

  // Of the same type, and yet not the operand.
  // CHECK: sym_name = "no_identities"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "stablehlo.transpose"
  // CHECK-NEXT: "stablehlo.broadcast_in_dim"
  // CHECK-NEXT: "stablehlo.slice"
  // CHECK-NEXT: "stablehlo.convert"
  // CHECK-NEXT: "stablehlo.convert"
  // CHECK-NEXT: "func.return"
  func.func public @no_identities(%a: tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>) {
    %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %1 = stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %2 = stablehlo.slice %a [0:3:2, 0:3] : (tensor<3x3xf32>) -> tensor<2x3xf32>
    %3 = stablehlo.convert %a : (tensor<3x3xf32>) -> tensor<3x3xf16>
    %4 = stablehlo.convert %3 : (tensor<3x3xf16>) -> tensor<3x3xf32>
    return %0, %1, %2, %4 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>
  }

  // A mask put on twice, either way round; not one with another value behind it, or another mask. What both
  // sides of one are.
  // CHECK: sym_name = "masks"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[X:[0-9]+]] = "stablehlo.select"(%arg0, %arg2, %arg3)
  // CHECK-NEXT: %[[Y:[0-9]+]] = "stablehlo.select"(%arg0, %[[X]], %arg2)
  // CHECK-NEXT: %[[Z:[0-9]+]] = "stablehlo.select"(%arg1, %[[X]], %arg3)
  // CHECK-NEXT: "func.return"(%[[X]], %[[X]], %[[Y]], %[[Z]], %arg3)
  func.func public @masks(%p: tensor<3xi1>, %q: tensor<3xi1>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.select %p, %a, %b : tensor<3xi1>, tensor<3xf32>
    %1 = stablehlo.select %p, %0, %b : tensor<3xi1>, tensor<3xf32>
    %2 = stablehlo.select %p, %a, %0 : tensor<3xi1>, tensor<3xf32>
    %3 = stablehlo.select %p, %0, %a : tensor<3xi1>, tensor<3xf32>
    %4 = stablehlo.select %q, %0, %b : tensor<3xi1>, tensor<3xf32>
    %5 = stablehlo.select %q, %b, %b : tensor<3xi1>, tensor<3xf32>
    return %1, %2, %3, %4, %5 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }

  // CHECK: sym_name = "reshapes"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.reshape"(%arg0) : (tensor<2x6xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: "func.return"(%0, %arg0)
  func.func public @reshapes(%a: tensor<2x6xf32>) -> (tensor<4x3xf32>, tensor<2x6xf32>) {
    %0 = stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<12xf32>
    %1 = stablehlo.reshape %0 : (tensor<12xf32>) -> tensor<3x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x3xf32>) -> tensor<2x6xf32>
    return %2, %3 : tensor<4x3xf32>, tensor<2x6xf32>
  }

  // What moves a tensor of equal elements is a broadcast of the element, be it a constant or not.
  // CHECK: sym_name = "splats"
  // CHECK-NEXT: ^bb0(%arg0: tensor<f32>, %arg1: tensor<3xf32>):
  // CHECK-NEXT: %[[C:[0-9]+]] = "stablehlo.constant"() <{value = dense<7.000000e+00> : tensor<f32>}>
  // CHECK-NEXT: %[[T:[0-9]+]] = "stablehlo.broadcast_in_dim"(%[[C]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[R:[0-9]+]] = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
  // CHECK-NEXT: %[[D:[0-9]+]] = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f32>}>
  // CHECK-NEXT: %[[B:[0-9]+]] = "stablehlo.broadcast_in_dim"(%[[D]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x1x5xf32>
  // CHECK-NEXT: %[[S:[0-9]+]] = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f32>}>
  // CHECK-NEXT: %[[E:[0-9]+]] = "stablehlo.constant"() <{value = dense<9.000000e+00> : tensor<f32>}>
  // CHECK-NEXT: %[[F:[0-9]+]] = "stablehlo.broadcast_in_dim"(%[[E]]) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
  // CHECK-NEXT: %[[V:[0-9]+]] = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: %[[W:[0-9]+]] = "stablehlo.transpose"(%[[V]])
  // CHECK-NEXT: "func.return"(%[[T]], %[[R]], %[[B]], %[[S]], %[[F]], %[[W]])
  func.func public @splats(%s: tensor<f32>, %v: tensor<3xf32>) -> (tensor<3x2xf32>, tensor<6xf32>, tensor<4x1x5xf32>, tensor<f32>, tensor<1x1xf32>, tensor<2x3xf32>) {
    %0 = stablehlo.constant dense<7.0> : tensor<2x3xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %2 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.reshape %2 : (tensor<2x3xf32>) -> tensor<6xf32>
    %4 = stablehlo.constant dense<5.0> : tensor<1xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [1] : (tensor<1xf32>) -> tensor<4x1x5xf32>
    %6 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %7 = stablehlo.constant dense<9.0> : tensor<f32>
    %8 = stablehlo.reshape %7 : (tensor<f32>) -> tensor<1x1xf32>
    %9 = stablehlo.broadcast_in_dim %v, dims = [0] : (tensor<3xf32>) -> tensor<3x2xf32>
    %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    return %1, %3, %5, %6, %8, %10 : tensor<3x2xf32>, tensor<6xf32>, tensor<4x1x5xf32>, tensor<f32>, tensor<1x1xf32>, tensor<2x3xf32>
  }

  // CHECK: sym_name = "selects"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %[[C:[0-9]+]] = "stablehlo.constant"() <{value = dense<[true, false]>
  // CHECK-NEXT: %[[S:[0-9]+]] = "stablehlo.select"(%[[C]], %arg0, %arg1)
  // CHECK-NEXT: "func.return"(%arg0, %arg1, %[[S]])
  func.func public @selects(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
    %yes = stablehlo.constant dense<true> : tensor<i1>
    %no = stablehlo.constant dense<false> : tensor<2xi1>
    %mixed = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %0 = stablehlo.select %yes, %a, %b : tensor<i1>, tensor<2xf32>
    %1 = stablehlo.select %no, %a, %b : tensor<2xi1>, tensor<2xf32>
    %2 = stablehlo.select %mixed, %a, %b : tensor<2xi1>, tensor<2xf32>
    return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }

  // One fold, op(init, x), as the reduction itself would do.
  // CHECK: sym_name = "reduces_nothing"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.broadcast_in_dim"(%arg1)
  // CHECK-NEXT: %1 = "stablehlo.add"(%0, %arg0)
  // CHECK-NEXT: %2 = "stablehlo.maximum"(%arg1, %arg2)
  // CHECK-NEXT: %[[SUB:[0-9]+]] = "stablehlo.reduce"
  func.func public @reduces_nothing(%a: tensor<2xf32>, %i: tensor<f32>, %s: tensor<f32>) -> (tensor<2xf32>, tensor<f32>, tensor<2xf32>) {
    %0 = stablehlo.reduce(%a init: %i) applies stablehlo.add across dimensions = [] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    %1 = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %3 = stablehlo.subtract %p, %q : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    return %0, %1, %2 : tensor<2xf32>, tensor<f32>, tensor<2xf32>
  }

  // CHECK: sym_name = "tuples"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: %0 = "stablehlo.get_tuple_element"(%arg2)
  // CHECK-NEXT: "func.return"(%arg1, %0)
  func.func public @tuples(%a: tensor<2xf32>, %b: tensor<i32>, %t: tuple<tensor<2xf32>>) -> (tensor<i32>, tensor<2xf32>) {
    %0 = stablehlo.tuple %a, %b : tuple<tensor<2xf32>, tensor<i32>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
    %2 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>>) -> tensor<2xf32>
    return %1, %2 : tensor<i32>, tensor<2xf32>
  }

  // Barriers and sharding constraints are there for a reason.
  // CHECK: sym_name = "left_alone"
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: "stablehlo.optimization_barrier"
  // CHECK-NEXT: "sdy.sharding_constraint"
  // CHECK-NEXT: "func.return"
  func.func public @left_alone(%a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.optimization_barrier %a : tensor<2xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<2xf32>
    return %1 : tensor<2xf32>
  }

  // In regions too, in program order, and through values that were folded before.
  // CHECK: sym_name = "regions"
  // CHECK: "stablehlo.case"(%arg0) ({
  // CHECK-NEXT: %[[T:[0-9]+]] = "stablehlo.tanh"(%arg1)
  // CHECK-NEXT: "stablehlo.return"(%[[T]])
  func.func public @regions(%i: tensor<i32>, %a: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.convert %a : tensor<2xf32>
    %1 = "stablehlo.case"(%i) ({
      %2 = stablehlo.reshape %0 : (tensor<2xf32>) -> tensor<2xf32>
      %3 = stablehlo.tanh %2 : tensor<2xf32>
      stablehlo.return %3 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }

  // One spelling of products and squares; x to the power of 1 is x. Other powers, and those that vary, stay.
  // CHECK: sym_name = "spellings"
  // CHECK: "stablehlo.dot_general"(%arg0, %arg1) <{precision_config = {{.*}}, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
  // CHECK: "stablehlo.dot_general"(%arg2, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}>
  // CHECK: "stablehlo.multiply"(%arg2, %arg2)
  // CHECK: "stablehlo.power"(%arg2,
  // CHECK: "stablehlo.power"(%arg2, %arg2)
  // CHECK: "func.return"({{.*}}, %arg2)
  func.func public @spellings(%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<3xf32>)
      -> (tensor<2x5xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<3xf32>
    %two = stablehlo.constant dense<2.0> : tensor<3xf32>
    %three = stablehlo.constant dense<3.0> : tensor<3xf32>
    %0 = stablehlo.dot %a, %b, precision = [HIGHEST, HIGHEST] : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
    %1 = stablehlo.dot %c, %c : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
    %2 = stablehlo.power %c, %two : tensor<3xf32>
    %3 = stablehlo.power %c, %three : tensor<3xf32>
    %4 = stablehlo.power %c, %c : tensor<3xf32>
    %5 = stablehlo.power %c, %one : tensor<3xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<2x5xf32>, tensor<f32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  }
}
