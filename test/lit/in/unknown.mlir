// What the reader doesn't know is kept as it came: ops in generic form, attributes, types.
// RUN: %roundtrip %s | FileCheck %s
// RUN: %roundtrip %s | %roundtrip - | FileCheck %s

func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 3.4:16>>, %y: !some.type<"a > b", [1, {2}]>, %v: vector<2x[4]xf32>, %d: tensor<?x4xf32, #stablehlo.bounds<3, ?>>) -> !some.type<"a > b", [1, {2}]> {
  // CHECK: ^bb0(%arg0: tensor<4x!quant.uniform<i8:f32, 3.4:16>>, %arg1: !some.type<"a > b", [1, {2}]>, %arg2: vector<2x[4]xf32>, %arg3: tensor<?x4xf32, #stablehlo.bounds<3, ?>>):
  // CHECK-NEXT: %0 = "some.op-name"(%arg0, %arg1) <{a = #some.attr<1 -> 2, "]">, b = i37, c = 5 : i37, d = #some<x y>, e = "s" : !some.string}> ({
  // CHECK-NEXT: }, {
  // CHECK-NEXT: ^bb0(%arg4: index):
  // CHECK-NEXT: "some.yield"(%arg4) : (index) -> ()
  // CHECK-NEXT: }) {f = @a::@"b c", g = array<i32: 1, 2>, h = sparse<0, 1> : tensor<2xf32>, i = dense<["x", "y"]> : tensor<2x!some.string>} : (tensor<4x!quant.uniform<i8:f32, 3.4:16>>, !some.type<"a > b", [1, {2}]>) -> !some.type<"a > b", [1, {2}]>
  %0 = "some.op-name"(%x, %y) <{b = i37, a = #some.attr<1 -> 2,
     // a comment
     "]">, c = 5 : i37, d = #some<x y>, e = "s" : !some.string}> ({
  }, {
  ^bb0(%a: index):
    "some.yield"(%a) : (index) -> ()
  }) {f = @a::@"b c", g = array<i32: 1, 2>, h = sparse<0, 1> : tensor<2xf32>, i = dense<["x", "y"]> : tensor<2x!some.string>} : (tensor<4x!quant.uniform<i8:f32, 3.4:16>>, !some.type<"a > b", [1, {2}]>) -> !some.type<"a > b", [1, {2}]>
  return %0 : !some.type<"a > b", [1, {2}]>
}
