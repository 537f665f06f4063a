// A few columns that are read one by one are made one by one: through elementwise ops, updates at a known place,
// transposes and reversals; any, all and sums of integers over them are those of columns. Not: sums of
// floats, five columns, what somebody reads whole, arguments.
// RUN: %weir opt %s --pass=columns,dce | FileCheck %s

// CHECK: sym_name = "main"
// CHECK-NOT: stablehlo.reduce
// CHECK-NOT: dynamic_update_slice
// CHECK: %[[R:[0-9]+]] = "stablehlo.reshape"(%arg0) : (tensor<3x4x1xi32>) -> tensor<12x1xi32>
// CHECK: %[[A:[0-9]+]] = "stablehlo.compare"(%[[R]],
// CHECK: %[[C:[0-9]+]] = "stablehlo.reshape"(%arg1) : (tensor<3x4x1xi32>) -> tensor<12x1xi32>
// CHECK: %[[B:[0-9]+]] = "stablehlo.compare"(%[[C]],
// CHECK: %[[O:[0-9]+]] = "stablehlo.or"(%[[A]], %[[B]]) : (tensor<12x1xi1>, tensor<12x1xi1>) -> tensor<12x1xi1>
// CHECK: %[[ANY:[0-9]+]] = "stablehlo.reshape"(%[[O]]) : (tensor<12x1xi1>) -> tensor<12xi1>
// CHECK: %[[S:[0-9]+]] = "stablehlo.negate"(%{{[0-9]+}}) : (tensor<12x1xi32>) -> tensor<12x1xi32>
// CHECK: "stablehlo.transpose"(%[[S]]) <{permutation = array<i64: 1, 0>}> : (tensor<12x1xi32>) -> tensor<1x12xi32>
// CHECK: "func.return"(%[[ANY]], %{{[0-9]+}})
func.func public @main(%i: tensor<3x4x1xi32>, %j: tensor<3x4x1xi32>) -> (tensor<12xi1>, tensor<1x12xi32>) {
  %zeros = stablehlo.constant dense<0> : tensor<3x4x2xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %a = stablehlo.dynamic_update_slice %zeros, %i, %zero, %zero, %zero : (tensor<3x4x2xi32>, tensor<3x4x1xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x2xi32>
  %b = stablehlo.dynamic_update_slice %a, %j, %zero, %zero, %one : (tensor<3x4x2xi32>, tensor<3x4x1xi32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x4x2xi32>
  %r = stablehlo.reshape %b : (tensor<3x4x2xi32>) -> tensor<12x2xi32>
  %most = stablehlo.constant dense<9> : tensor<12x2xi32>
  %c = stablehlo.compare GE, %r, %most : (tensor<12x2xi32>, tensor<12x2xi32>) -> tensor<12x2xi1>
  %any = stablehlo.reduce(%c init: %false) applies stablehlo.or across dimensions = [1] : (tensor<12x2xi1>, tensor<i1>) -> tensor<12xi1>
  %n = stablehlo.negate %r : tensor<12x2xi32>
  %t = stablehlo.transpose %n, dims = [1, 0] : (tensor<12x2xi32>) -> tensor<2x12xi32>
  %v = stablehlo.reverse %t, dims = [0] : tensor<2x12xi32>
  %s = stablehlo.slice %v [0:1, 0:12] : (tensor<2x12xi32>) -> tensor<1x12xi32>
  return %any, %s : tensor<12xi1>, tensor<1x12xi32>
}

// What the reduction begins with counts once.
// CHECK: sym_name = "begins"
// CHECK: %[[I:[0-9]+]] = "stablehlo.broadcast_in_dim"(%arg1)
// CHECK: %[[X:[0-9]+]] = "stablehlo.add"(%[[I]], %{{[0-9]+}}) : (tensor<9x1xi32>
// CHECK: "stablehlo.add"(%[[X]], %{{[0-9]+}}) : (tensor<9x1xi32>
func.func @begins(%x: tensor<9x2xi32>, %first: tensor<i32>) -> tensor<9xi32> {
  %d = stablehlo.multiply %x, %x : tensor<9x2xi32>
  %s = stablehlo.reduce(%d init: %first) applies stablehlo.add across dimensions = [1] : (tensor<9x2xi32>, tensor<i32>) -> tensor<9xi32>
  return %s : tensor<9xi32>
}

// CHECK: sym_name = "others"
// CHECK-COUNT-4: "stablehlo.reduce"
// CHECK: "func.return"
func.func @others(%f: tensor<9x2xf32>, %i: tensor<9x5xi32>, %j: tensor<9x2xi32>) -> (tensor<9xf32>, tensor<9xi32>, tensor<9xi32>, tensor<9x2xi32>, tensor<9xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %g = stablehlo.negate %f : tensor<9x2xf32>
  %sum = stablehlo.reduce(%g init: %none) applies stablehlo.add across dimensions = [1] : (tensor<9x2xf32>, tensor<f32>) -> tensor<9xf32>
  %k = stablehlo.negate %i : tensor<9x5xi32>
  %five = stablehlo.reduce(%k init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<9x5xi32>, tensor<i32>) -> tensor<9xi32>
  %l = stablehlo.negate %j : tensor<9x2xi32>
  %kept = stablehlo.reduce(%l init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<9x2xi32>, tensor<i32>) -> tensor<9xi32>
  %given = stablehlo.reduce(%j init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<9x2xi32>, tensor<i32>) -> tensor<9xi32>
  return %sum, %five, %kept, %l, %given : tensor<9xf32>, tensor<9xi32>, tensor<9xi32>, tensor<9x2xi32>, tensor<9xi32>
}

// How far boxes overlap: along x, then along y.
// CHECK: sym_name = "overlap"
// CHECK-NOT: tensor<9x9x2xf32>
// CHECK: "func.return"
func.func @overlap(%low: tensor<9x2xf32>, %high: tensor<9x2xf32>) -> tensor<9x9xf32> {
  %a = stablehlo.broadcast_in_dim %low, dims = [0, 2] : (tensor<9x2xf32>) -> tensor<9x9x2xf32>
  %b = stablehlo.broadcast_in_dim %high, dims = [1, 2] : (tensor<9x2xf32>) -> tensor<9x9x2xf32>
  %d = stablehlo.subtract %b, %a : tensor<9x9x2xf32>
  %x = stablehlo.slice %d [0:9, 0:9, 0:1] : (tensor<9x9x2xf32>) -> tensor<9x9x1xf32>
  %y = stablehlo.slice %d [0:9, 0:9, 1:2] : (tensor<9x9x2xf32>) -> tensor<9x9x1xf32>
  %p = stablehlo.multiply %x, %y : tensor<9x9x1xf32>
  %r = stablehlo.reshape %p : (tensor<9x9x1xf32>) -> tensor<9x9xf32>
  return %r : tensor<9x9xf32>
}

// Whoever reads a column of floats beside their sum reads it of what is there.
// CHECK: sym_name = "both"
// CHECK: %[[D:[0-9]+]] = "stablehlo.negate"(%arg0) : (tensor<9x2xf32>)
// CHECK: "stablehlo.slice"(%[[D]])
// CHECK: "stablehlo.reduce"(%[[D]],
func.func @both(%x: tensor<9x2xf32>) -> (tensor<9x1xf32>, tensor<9xf32>) {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.negate %x : tensor<9x2xf32>
  %c = stablehlo.slice %d [0:9, 0:1] : (tensor<9x2xf32>) -> tensor<9x1xf32>
  %s = stablehlo.reduce(%d init: %none) applies stablehlo.add across dimensions = [1] : (tensor<9x2xf32>, tensor<f32>) -> tensor<9xf32>
  return %c, %s : tensor<9x1xf32>, tensor<9xf32>
}
