// The stack is a result: it is there anyway, and its loop runs once.
// RUN: %weir opt %s --tensor-size-threshold 2000 --stop-after split | FileCheck %s

// CHECK-LABEL: sym_name = "main"
// CHECK: "stablehlo.while"({{.*}}) ({
// CHECK: "stablehlo.dynamic_update_slice"({{.*}} tensor<17x100xf32>
// CHECK: "stablehlo.while"({{.*}}) ({
// CHECK: "stablehlo.dynamic_slice"({{.*}} (tensor<17x100xf32>,
// CHECK-NOT: "stablehlo.while"
func.func public @main(%h: tensor<100xf32>) -> (tensor<17x100xf32>, tensor<100xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<17x100xf32>
  %r:3 = stablehlo.while(%i = %zero, %s = %h, %all = %none) : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
  cond {
    %end = stablehlo.constant dense<17> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.reshape %s : (tensor<100xf32>) -> tensor<1x100xf32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %more = stablehlo.dynamic_update_slice %all, %row, %i, %o : (tensor<17x100xf32>, tensor<1x100xf32>, tensor<i32>, tensor<i32>) -> tensor<17x100xf32>
    %t = stablehlo.reverse %s, dims = [0] : tensor<100xf32>
    %u = stablehlo.sine %t : tensor<100xf32>
    stablehlo.return %next, %u, %more : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
  }
  %b:3 = stablehlo.while(%i = %zero, %g = %h, %all = %r#2) : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
  cond {
    %end = stablehlo.constant dense<17> : tensor<i32>
    %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %last = stablehlo.constant dense<16> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %o = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %all, %at, %o, sizes = [1, 100] : (tensor<17x100xf32>, tensor<i32>, tensor<i32>) -> tensor<1x100xf32>
    %s = stablehlo.reshape %row : (tensor<1x100xf32>) -> tensor<100xf32>
    %v = stablehlo.reverse %s, dims = [0] : tensor<100xf32>
    %w = stablehlo.multiply %g, %v : tensor<100xf32>
    stablehlo.return %next, %w, %all : tensor<i32>, tensor<100xf32>, tensor<17x100xf32>
  }
  return %r#2, %b#1 : tensor<17x100xf32>, tensor<100xf32>
}
