// Slices and reversals of what a while does not change are made before it, also out of two whiles; each
// is one more carry, with reshapes between. Not of what it changes, nor what a while with attributes has.
// RUN: %weir opt %s --pass=unchanged,dce | FileCheck %s

// CHECK: sym_name = "main"
// CHECK: %[[A:[0-9]+]] = "stablehlo.slice"(%arg1) {{.*}} -> tensor<4xf32>
// CHECK: %[[B:[0-9]+]] = "stablehlo.reverse"(%arg2)
// CHECK: %[[C:[0-9]+]] = "stablehlo.reverse"({{.*}}tensor<4x1xf32>
// CHECK: %[[D:[0-9]+]] = "stablehlo.reshape"(%[[C]])
// CHECK: %[[W:[0-9]+]]:[[N:[0-9]+]] = "stablehlo.while"({{.*}}%[[A]]{{.*}}%[[B]]{{.*}}%[[D]]
// CHECK-NOT: stablehlo.reverse
// CHECK: "stablehlo.slice"({{.*}}) {{.*}} -> tensor<2xf32>
// CHECK: "func.return"(%[[W]]#1)
func.func public @main(%h: tensor<4xf32>, %x: tensor<9xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %s = %h, %u = %x, %v = %y) : tensor<i32>, tensor<4xf32>, tensor<9xf32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %t:3 = stablehlo.while(%k = %zero, %q = %s, %w = %u) : tensor<i32>, tensor<4xf32>, tensor<9xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %l = stablehlo.add %k, %one : tensor<i32>
      %a = stablehlo.slice %w [2:6] : (tensor<9xf32>) -> tensor<4xf32>
      %m = stablehlo.multiply %q, %a : tensor<4xf32>
      stablehlo.return %l, %m, %w : tensor<i32>, tensor<4xf32>, tensor<9xf32>
    }
    %b = stablehlo.reverse %v, dims = [0] : tensor<4xf32>
    %g = stablehlo.slice %u [5:9] : (tensor<9xf32>) -> tensor<4xf32>
    %x2 = stablehlo.reshape %g : (tensor<4xf32>) -> tensor<4x1xf32>
    %x3 = stablehlo.reverse %x2, dims = [0] : tensor<4x1xf32>
    %x4 = stablehlo.reshape %x3 : (tensor<4x1xf32>) -> tensor<4xf32>
    %d = stablehlo.slice %s [1:3] : (tensor<4xf32>) -> tensor<2xf32>
    %p = stablehlo.concatenate %d, %d, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %e0 = stablehlo.add %t#1, %b : tensor<4xf32>
    %e = stablehlo.add %e0, %x4 : tensor<4xf32>
    %f = stablehlo.add %e, %p : tensor<4xf32>
    stablehlo.return %j, %f, %u, %v : tensor<i32>, tensor<4xf32>, tensor<9xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK: sym_name = "attributes"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.slice"
func.func @attributes(%h: tensor<4xf32>, %x: tensor<9xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %s = %h, %u = %x) : tensor<i32>, tensor<4xf32>, tensor<9xf32> attributes {mhlo.frontend_attributes = {a = "b"}}
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.slice %u [2:6] : (tensor<9xf32>) -> tensor<4xf32>
    %f = stablehlo.add %s, %a : tensor<4xf32>
    stablehlo.return %j, %f, %u : tensor<i32>, tensor<4xf32>, tensor<9xf32>
  }
  return %r#1 : tensor<4xf32>
}

// Parts that are more than the whole together stay.
// CHECK: sym_name = "overlapping"
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.slice"
// CHECK: "stablehlo.slice"
func.func @overlapping(%h: tensor<3xf32>, %x: tensor<4xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %s = %h, %u = %x) : tensor<i32>, tensor<3xf32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %a = stablehlo.slice %u [0:3] : (tensor<4xf32>) -> tensor<3xf32>
    %b = stablehlo.slice %u [1:4] : (tensor<4xf32>) -> tensor<3xf32>
    %e = stablehlo.add %s, %a : tensor<3xf32>
    %f = stablehlo.multiply %e, %b : tensor<3xf32>
    stablehlo.return %j, %f, %u : tensor<i32>, tensor<3xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<3xf32>
}
