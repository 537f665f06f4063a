// A loop reads a window of what is a concatenation of a tensor and of a sum with a constant: the part
// of a constant is a constant, at whatever offset.
// RUN: %weir opt %s --tensor-size-threshold 223 --stop-after split | FileCheck %s

// CHECK:      "stablehlo.while"
// CHECK:      "weir.loop"
// CHECK:      %[[ONES:.*]] = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<9x6xf32>}>
// CHECK-NEXT: "stablehlo.add"({{.*}}, %[[ONES]])
// CHECK-NOT:  tensor<62x6xf32>
func.func public @main(%16: tensor<31x6xf32>, %5: tensor<31x6xf32>, %3: tensor<31x6xf32>) -> (tensor<f32>) {
%2 = "stablehlo.constant"() <{value = dense<1.000000000e+00> : tensor<31x6xf32>}> : () -> tensor<31x6xf32>
%4 = "stablehlo.add"(%3, %2) : (tensor<31x6xf32>, tensor<31x6xf32>) -> tensor<31x6xf32>
%6 = "stablehlo.concatenate"(%5, %4) <{dimension = 0 : i64}> : (tensor<31x6xf32>, tensor<31x6xf32>) -> tensor<62x6xf32>
%7 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
%19 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
%35, %36, %37 = "stablehlo.while"(%19, %7, %16) ({
^bb0(%20: tensor<i32>, %21: tensor<f32>, %22: tensor<31x6xf32>):
%23 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
%24 = "stablehlo.compare"(%20, %23) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
"stablehlo.return"(%24) : (tensor<i1>) -> ()
}, {
^bb0(%20: tensor<i32>, %21: tensor<f32>, %22: tensor<31x6xf32>):
%25 = "stablehlo.add"(%21, %21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
%26 = "stablehlo.dynamic_slice"(%6, %20, %20) <{slice_sizes = array<i64: 45, 6>}> : (tensor<62x6xf32>, tensor<i32>, tensor<i32>) -> tensor<45x6xf32>
%27 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
%29 = "stablehlo.reduce"(%26, %27) <{dimensions = array<i64: 0, 1>}> ({
^bb0(%r28_a0: tensor<f32>, %r28_a1: tensor<f32>):
%r28_0 = "stablehlo.maximum"(%r28_a0, %r28_a1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
"stablehlo.return"(%r28_0) : (tensor<f32>) -> ()
}) : (tensor<45x6xf32>, tensor<f32>) -> tensor<f32>
%30 = "stablehlo.tanh"(%29) : (tensor<f32>) -> tensor<f32>
%31 = "stablehlo.convert"(%30) : (tensor<f32>) -> tensor<f32>
%32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
%33 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
%34 = "stablehlo.add"(%20, %33) : (tensor<i32>, tensor<i32>) -> tensor<i32>
"stablehlo.return"(%34, %32, %22) : (tensor<i32>, tensor<f32>, tensor<31x6xf32>) -> ()
}) : (tensor<i32>, tensor<f32>, tensor<31x6xf32>) -> (tensor<i32>, tensor<f32>, tensor<31x6xf32>)
return %36 : tensor<f32>
}
