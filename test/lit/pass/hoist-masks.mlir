// A mask is converted where it is multiplied with: there XLA selects. Read by others alone it goes.
// RUN: %weir opt %s --pass=hoist,dce --tensor-size-threshold 1MB | FileCheck %s

// CHECK-NOT:  "stablehlo.convert"
// CHECK:      %[[P:.*]] = "stablehlo.compare"
// CHECK-NOT:  "stablehlo.convert"
// CHECK:      "stablehlo.while"
// CHECK:      }, {
// CHECK:      %[[M:.*]] = "stablehlo.convert"(%[[P]])
// CHECK-NEXT: "stablehlo.multiply"(%{{.*}}, %[[M]])
// CHECK:      %[[SUMMED:.*]] = "stablehlo.convert"
// CHECK-NEXT: "stablehlo.while"
// CHECK:      "stablehlo.dot_general"(%[[SUMMED]]
func.func public @main(%x: tensor<1000xf32>, %w: tensor<1000xf32>, %v: tensor<1000xf32>, %g: tensor<100x100xf32>, %k: tensor<100xf32>) -> (tensor<1000xf32>, tensor<100xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %s = %x, %u = %w, %t = %v) : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %eu = stablehlo.exponential %u : tensor<1000xf32>
    %et = stablehlo.exponential %t : tensor<1000xf32>
    %p = stablehlo.compare NE, %eu, %et : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
    %m = stablehlo.convert %p : (tensor<1000xi1>) -> tensor<1000xf32>
    %y = stablehlo.multiply %s, %m : tensor<1000xf32>
    stablehlo.return %j, %y, %u, %t : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
  }
  %q:3 = stablehlo.while(%i = %zero, %s = %k, %u = %g) : tensor<i32>, tensor<100xf32>, tensor<100x100xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %eu = stablehlo.exponential %u : tensor<100x100xf32>
    %p = stablehlo.compare NE, %eu, %u : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xi1>
    %m = stablehlo.convert %p : (tensor<100x100xi1>) -> tensor<100x100xf32>
    %y = stablehlo.dot_general %m, %s, contracting_dims = [1] x [0] : (tensor<100x100xf32>, tensor<100xf32>) -> tensor<100xf32>
    stablehlo.return %j, %y, %u : tensor<i32>, tensor<100xf32>, tensor<100x100xf32>
  }
  return %r#1, %q#1 : tensor<1000xf32>, tensor<100xf32>
}
