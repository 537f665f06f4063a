// A loop that reads one row a trip of a product: the row is made in the trip of a row of %a and all of
// %b, which stays outside: the loop over rows that sums the product up has it whole, too.
// RUN: %weir opt %s --memory-limit 6.2MB | FileCheck %s
// Also where it is as large as the product.
// RUN: sed 's/x500xf32/x1000xf32/g' %s | %weir opt - --memory-limit 11.3MB | FileCheck %s --check-prefix=LARGE

// CHECK:      %[[B:[a-z0-9]+]] = "stablehlo.tanh"(%{{.*}}) : (tensor<900x500xf32>) -> tensor<900x500xf32>
// CHECK:      "stablehlo.while"
// CHECK-NOT:  "stablehlo.while"
// CHECK:      %[[ROW:[a-z0-9]+]] = "stablehlo.sine"(%{{.*}}) : (tensor<1x500xf32>) -> tensor<1x500xf32>
// CHECK:      "stablehlo.dot_general"(%[[ROW]], %[[B]]) {{.*}} -> tensor<1x900xf32>

// LARGE:      %[[B:[a-z0-9]+]] = "stablehlo.tanh"(%{{.*}}) : (tensor<900x1000xf32>) -> tensor<900x1000xf32>
// LARGE:      "stablehlo.while"
// LARGE-NOT:  "stablehlo.while"
// LARGE:      %[[ROW:[a-z0-9]+]] = "stablehlo.sine"(%{{.*}}) : (tensor<1x1000xf32>) -> tensor<1x1000xf32>
// LARGE:      "stablehlo.dot_general"(%[[ROW]], %[[B]]) {{.*}} -> tensor<1x900xf32>
func.func public @main(%x: tensor<1000x500xf32>, %y: tensor<900x500xf32>, %s: tensor<900xf32>) -> (tensor<1000xf32>, tensor<900xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<1000> : tensor<i32>
  %a = stablehlo.sine %x : tensor<1000x500xf32>
  %b = stablehlo.tanh %y : tensor<900x500xf32>
  %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<1000x500xf32>, tensor<900x500xf32>) -> tensor<1000x900xf32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%d init: %f) applies stablehlo.add across dimensions = [1] : (tensor<1000x900xf32>, tensor<f32>) -> tensor<1000xf32>
  %r:2 = stablehlo.while(%i = %zero, %t = %s) : tensor<i32>, tensor<900xf32>
  cond {
    %c = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dynamic_slice %d, %i, %zero, sizes = [1, 900] : (tensor<1000x900xf32>, tensor<i32>, tensor<i32>) -> tensor<1x900xf32>
    %q = stablehlo.reshape %p : (tensor<1x900xf32>) -> tensor<900xf32>
    %u = stablehlo.reverse %t, dims = [0] : tensor<900xf32>
    %n = stablehlo.add %u, %q : tensor<900xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %n : tensor<i32>, tensor<900xf32>
  }
  return %m, %r#1 : tensor<1000xf32>, tensor<900xf32>
}
