// RUN: %weir opt %s --pass=ranges,dce | FileCheck %s

// NumPy's wrapping of negative indices, a clamp, floor division and its remainder: none has anything to do for what counts.
// CHECK-LABEL: sym_name = "digits"
// CHECK: %[[I:.*]] = "stablehlo.iota"
// CHECK-NOT: "stablehlo.select"
// CHECK-NOT: "stablehlo.sign"
// CHECK: %[[D:.*]] = "stablehlo.divide"(%[[I]], %{{.*}})
// CHECK: "func.return"(%[[D]], %[[I]])
func.func @digits() -> (tensor<12xi32>, tensor<12xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<12xi32>
  %zero = stablehlo.constant dense<0> : tensor<12xi32>
  %one = stablehlo.constant dense<1> : tensor<12xi32>
  %n = stablehlo.constant dense<4> : tensor<12xi32>
  %last = stablehlo.constant dense<11> : tensor<12xi32>
  %all = stablehlo.constant dense<12> : tensor<12xi32>
  %q = stablehlo.divide %i, %n : tensor<12xi32>
  %sx = stablehlo.sign %i : tensor<12xi32>
  %sn = stablehlo.sign %n : tensor<12xi32>
  %apart = stablehlo.compare NE, %sx, %sn, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
  %r = stablehlo.remainder %i, %n : tensor<12xi32>
  %rest = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
  %down = stablehlo.and %apart, %rest : tensor<12xi1>
  %less = stablehlo.subtract %q, %one : tensor<12xi32>
  %floor = stablehlo.select %down, %less, %q : tensor<12xi1>, tensor<12xi32>
  %below = stablehlo.compare LT, %i, %zero, SIGNED : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
  %wrapped = stablehlo.add %i, %all : tensor<12xi32>
  %w = stablehlo.select %below, %wrapped, %i : tensor<12xi1>, tensor<12xi32>
  %up = stablehlo.maximum %w, %zero : tensor<12xi32>
  %in = stablehlo.minimum %up, %last : tensor<12xi32>
  %same = stablehlo.remainder %in, %all : tensor<12xi32>
  return %floor, %same : tensor<12xi32>, tensor<12xi32>
}

// What is put together from digits is taken apart again.
// CHECK-LABEL: sym_name = "ravelled"
// CHECK: %[[X:.*]] = "stablehlo.iota"() <{iota_dimension = 0
// CHECK: %[[Y:.*]] = "stablehlo.iota"() <{iota_dimension = 1
// CHECK: "func.return"(%[[X]], %[[Y]])
func.func @ravelled() -> (tensor<3x4xi32>, tensor<3x4xi32>) {
  %x = stablehlo.iota dim = 0 : tensor<3x4xi32>
  %y = stablehlo.iota dim = 1 : tensor<3x4xi32>
  %n = stablehlo.constant dense<4> : tensor<3x4xi32>
  %rows = stablehlo.multiply %x, %n : tensor<3x4xi32>
  %p = stablehlo.add %rows, %y : tensor<3x4xi32>
  %q = stablehlo.divide %p, %n : tensor<3x4xi32>
  %r = stablehlo.remainder %p, %n : tensor<3x4xi32>
  return %q, %r : tensor<3x4xi32>, tensor<3x4xi32>
}

// 64 * 2 and 127 + 1 are beyond i8; an argument can be anything; -3 / 2 is not floor's.
// CHECK-LABEL: sym_name = "left_alone"
// CHECK: %[[SUM:.*]] = "stablehlo.add"
// CHECK: %[[B:.*]] = "stablehlo.compare"(%[[SUM]]
// CHECK: %[[S:.*]] = "stablehlo.select"(%[[B]]
// CHECK: %[[M:.*]] = "stablehlo.maximum"(%arg0
// CHECK: %[[R:.*]] = "stablehlo.remainder"(%arg0
// CHECK: "func.return"(%[[S]], %[[M]], %[[R]])
func.func @left_alone(%x: tensor<100xi32>) -> (tensor<100xi8>, tensor<100xi32>, tensor<100xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<100xi8>
  %zero = stablehlo.constant dense<0> : tensor<100xi8>
  %sum = stablehlo.add %i, %i : tensor<100xi8>
  %below = stablehlo.compare LT, %sum, %zero, SIGNED : (tensor<100xi8>, tensor<100xi8>) -> tensor<100xi1>
  %s = stablehlo.select %below, %i, %zero : tensor<100xi1>, tensor<100xi8>
  %wide = stablehlo.constant dense<0> : tensor<100xi32>
  %max = stablehlo.maximum %x, %wide : tensor<100xi32>
  %n = stablehlo.constant dense<7> : tensor<100xi32>
  %r = stablehlo.remainder %x, %n : tensor<100xi32>
  return %s, %max, %r : tensor<100xi8>, tensor<100xi32>, tensor<100xi32>
}

// 7 + 1 is -8 in four bits.
// CHECK-LABEL: sym_name = "of_four_bits"
// CHECK: %[[SUM:.*]] = "stablehlo.add"
// CHECK: %[[B:.*]] = "stablehlo.compare"(%[[SUM]]
// CHECK: "func.return"(%[[B]])
func.func @of_four_bits() -> tensor<8xi1> {
  %i = stablehlo.iota dim = 0 : tensor<8xi4>
  %one = stablehlo.constant dense<1> : tensor<8xi4>
  %zero = stablehlo.constant dense<0> : tensor<8xi4>
  %sum = stablehlo.add %i, %one : tensor<8xi4>
  %below = stablehlo.compare LT, %sum, %zero, SIGNED : (tensor<8xi4>, tensor<8xi4>) -> tensor<8xi1>
  return %below : tensor<8xi1>
}
