// A step that sets borders first and then makes inner points of them: the updated state is made in
// the trips, slice by slice, for it is read beside the update, too.
// RUN: %weir opt %s --memory-limit 36000 | FileCheck %s

// CHECK: "stablehlo.while"
// CHECK: "stablehlo.while"({{.*}}) ({
// CHECK-NOT: (tensor<60x60xf32>, tensor<1x60xf32>, {{.*}}) -> tensor<60x60xf32>
// CHECK: "stablehlo.tanh"({{.*}}) : (tensor<[[N:[0-9]+]]x58xf32>)
// CHECK: "stablehlo.dynamic_update_slice"({{.*}}) : (tensor<60x60xf32>, tensor<[[N]]x60xf32>,
func.func public @main(%u: tensor<60x60xf32>) -> tensor<60x60xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %x = %u) : tensor<i32>, tensor<60x60xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.slice %x [1:2, 0:60] : (tensor<60x60xf32>) -> tensor<1x60xf32>
    %y = stablehlo.dynamic_update_slice %x, %row, %start, %start : (tensor<60x60xf32>, tensor<1x60xf32>, tensor<i32>, tensor<i32>) -> tensor<60x60xf32>
    %a = stablehlo.slice %y [0:58, 1:59] : (tensor<60x60xf32>) -> tensor<58x58xf32>
    %b = stablehlo.slice %y [2:60, 1:59] : (tensor<60x60xf32>) -> tensor<58x58xf32>
    %s = stablehlo.add %a, %b : tensor<58x58xf32>
    %t = stablehlo.tanh %s : tensor<58x58xf32>
    %z = stablehlo.dynamic_update_slice %y, %t, %one, %one : (tensor<60x60xf32>, tensor<58x58xf32>, tensor<i32>, tensor<i32>) -> tensor<60x60xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %z : tensor<i32>, tensor<60x60xf32>
  }
  return %r#1 : tensor<60x60xf32>
}
