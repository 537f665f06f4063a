// Every spelling that the reader knows, once; test_roundtrip.py reads it with stock MLIR, too, and the fuzz test mutates it.
// RUN: %roundtrip --verify %s | FileCheck %s

#dims = array<i64: 0, 1>
#text = "of an alias"
!matrix = tensor<4x4xf32>

module @everything attributes {mhlo.num_partitions = 1 : i32, other.list = [1 : i8, -2, 2.5, true, unit, #text, @f, {a = 1 : ui8, "b c"}], other.map = affine_map<(d0) -> (d0)>} {
  sdy.mesh @mesh = <["x"=2, "y"=2]> {other.name = "mesh"} loc(#loc)
  // CHECK: "func.func"() <{arg_attrs = [{other.a = 1 : i64}, {}], function_type = (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}>
  // CHECK-NEXT: ^bb0(%arg0: tensor<4x4xf32> loc("arg"), %arg1: tensor<f32>):
  func.func public @main(%m: !matrix {other.a = 1} loc("arg"), %z: tensor<f32>) -> (tensor<4xf32> {jax.result_info = "result"}) attributes {other.x} {
    // CHECK: "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["arg", "file.py":3:4 to :9])
    %0 = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (!matrix) -> tensor<4x4xf32> loc(#loc2)
    // CHECK: "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1>}> {other.y = "of an alias"}
    %1 = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = #dims}> {other.y = #text} : (!matrix) -> tensor<4x4xf32>
    // CHECK: "stablehlo.dot_general"{{.*}}<{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK: "stablehlo.reduce"(%{{.*}}, %arg1) <{dimensions = array<i64: 1>}> ({
    // CHECK-NEXT: ^bb0(%arg2: tensor<f32> loc("sum"), %arg3: tensor<f32> loc("sum")):
    // CHECK-NEXT: %[[SUM:.*]] = "stablehlo.add"(%arg2, %arg3) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("sum")
    // CHECK-NEXT: "stablehlo.return"(%[[SUM]]) : (tensor<f32>) -> () loc("sum")
    %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32> loc("sum")
    %4:2 = stablehlo.reduce(%2 init: %z), (%m init: %z) across dimensions = [0] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
     reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
      %10 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %10, %c : tensor<f32>, tensor<f32>
    }
    // CHECK: %[[LOOP:.*]]:2 = "stablehlo.while"
    %5:2 = stablehlo.while(%i = %3, %j = %4#1) : tensor<4xf32>, tensor<4xf32> attributes {other.trips = 1 : i32}
     cond {
      %10 = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %10 : tensor<i1>
    } do {
      %10 = func.call @f(%i) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %10, %j : tensor<4xf32>, tensor<4xf32>
    }
    // CHECK: "stablehlo.compare"(%[[LOOP]]#0, %[[LOOP]]#1) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}>
    %6 = stablehlo.compare LT, %5#0, %5#1, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %7 = stablehlo.select %6, %5#0, %5#1 : tensor<4xi1>, tensor<4xf32>
    // CHECK: "sdy.sharding_constraint"{{.*}}<{sharding = #sdy.sharding<@mesh, [{"x"}]>}>
    %8 = sdy.sharding_constraint %7 <@mesh, [{"x"}]> : tensor<4xf32>
    %9 = call @f(%8) {other.z} : (tensor<4xf32>) -> tensor<4xf32>
    return %9 : tensor<4xf32>
  } loc("main")
  func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %x : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.complex %0, %x : tensor<4xcomplex<f32>>
    %2 = stablehlo.real %1 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %3 = stablehlo.tuple %2, %0 : tuple<tensor<4xf32>, tensor<4xf32>>
    %4 = stablehlo.get_tuple_element %3[1] : (tuple<tensor<4xf32>, tensor<4xf32>>) -> tensor<4xf32>
    %5 = chlo.square %4 : tensor<4xf32> -> tensor<4xf32>
    %6:2 = chlo.top_k(%5, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %7 = stablehlo.concatenate %6#0, %6#0, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
    %8 = stablehlo.slice %7 [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %c = stablehlo.constant dense<[1]> : tensor<1xi32>
    %9 = stablehlo.reshape %c : (tensor<1xi32>) -> tensor<i32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %10 = stablehlo.pad %8, %cst, low = [1], high = [1], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %11 = stablehlo.dynamic_slice %10, %9, sizes = [4] : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    %12 = stablehlo.reduce_precision %11, format = e5m10 : tensor<4xf32>
    %13 = stablehlo.iota dim = 0 : tensor<4xf32>
    %14 = stablehlo.reverse %13, dims = [0] : tensor<4xf32>
    %15 = stablehlo.transpose %14, dims = [0] : (tensor<4xf32>) -> tensor<4xf32>
    %16:2 = stablehlo.optimization_barrier %15, %12 : tensor<4xf32>, tensor<4xf32>
    %17 = stablehlo.custom_call @"a target"(%16#0, %16#1) {api_version = 4 : i32, backend_config = {k = 3 : i64}, has_side_effect = true, mhlo.x = "\22\0A"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %18 = stablehlo.composite "a.b" %17 {decomposition = @g, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %19 = stablehlo.clamp %18, %17, %18 : tensor<4xf32>
    %20 = stablehlo.fft %1, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %21 = "stablehlo.case"(%9) ({
      stablehlo.return %19 : tensor<4xf32>
    }, {
      %22 = stablehlo.negate %19 : tensor<4xf32>
      stablehlo.return %22 : tensor<4xf32>
    }) {other.branches = 2 : i64} : (tensor<i32>) -> tensor<4xf32>
    %22 = stablehlo.constant dense<"0x010203"> : tensor<3xui8>
    %23 = stablehlo.constant dense<[[(1.0,-2.0), (0x7F800000,0.1)]]> : tensor<1x2xcomplex<f32>>
    %24 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
    // CHECK: "arith.constant"() <{value = dense<[4, 5]> : tensor<2xi64>}> : () -> tensor<2xi64>
    %spelled = arith.constant dense<[4, 5]> : tensor<2xi64>
    %25 = stablehlo.constant dense<[0x7FC0, 0.1]> : tensor<2xbf16>
    %26 = stablehlo.constant dense<[[], []]> : tensor<2x0xf64>
    return %21 : tensor<4xf32>
  }
  func.func private @g(tensor<4xf32> {other.b}) -> tensor<4xf32>
  func.func @convolution(%x: tensor<1x6x7x2xf32>, %w: tensor<3x2x2x4xf32>) -> tensor<1x6x8x4xf32> {
    // CHECK: "stablehlo.convolution"{{.*}}dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>{{.*}}padding = dense<{{\[\[}}2, 2], [1, 1]]> : tensor<2x2xi64>{{.*}}window_reversal = array<i1: false, false>
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 2], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x7x2xf32>, tensor<3x2x2x4xf32>) -> tensor<1x6x8x4xf32>
    return %0 : tensor<1x6x8x4xf32>
  }
  func.func @sharded(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // CHECK: "sdy.manual_computation"(%arg0) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy<manual_axes{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}>
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%y: tensor<4x8xf32>) {
      sdy.return %y : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
#loc = loc(unknown)
#loc1 = loc("file.py":3:4 to :9)
#loc2 = loc(fused["arg", #loc1])
