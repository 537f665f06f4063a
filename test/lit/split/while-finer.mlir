// Two filters of 200 series read one table of likelihoods (3.9 MB). Slices of the first length that fits leave no room
// for their part of it: it is made anew in each of 140 steps, 16 times the work in all. Shorter ones leave it some.
// Under a smaller limit the first that fit are such, and the longest that fit are taken: no shorter ones are tried.
// RUN: %weir plan %s --memory-limit 1.3MB | FileCheck %s
// RUN: %weir opt %s --memory-limit 1.3MB --tile off --debug 2 2>&1 >/dev/null | FileCheck %s --check-prefix=TRIED
// RUN: %weir opt %s --memory-limit 400kB --tile off --skip steps --debug 2 2>&1 >/dev/null | FileCheck %s --check-prefix=ONCE

// CHECK: outcome  rewritten, 1 loop
// CHECK-NOT: warning
// TRIED: slices of 40625 bytes: estimated peak 12
// TRIED: slices of 10156 bytes: estimated peak 5
// ONCE: slices of 3125 bytes: estimated peak 2{{.*}} target 400000
// ONCE-NOT: slices of {{[12]?[0-9]?[0-9]?[0-9]}} bytes: {{.*}} target 400000
// ONCE: slices of {{[56][0-9]+}} bytes: estimated peak 3{{.*}} target 400000
// ONCE-NOT: slices of {{[12]?[0-9]?[0-9]?[0-9]}} bytes: {{.*}} target 400000
module @jit_two_filters attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<23xf32>, %arg1: tensor<23x23xf32>, %arg2: tensor<23x3xf32>, %arg3: tensor<23x3xf32>, %arg4: tensor<200x70x3xf32>) -> (tensor<200xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<70xi32>
    %1 = stablehlo.broadcast_in_dim %arg4, dims = [0, 1, 3] : (tensor<200x70x3xf32>) -> tensor<200x70x1x3xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1, 2] : (tensor<23x3xf32>) -> tensor<1x23x3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1, 2, 3] : (tensor<1x23x3xf32>) -> tensor<1x1x23x3xf32>
    %4 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<200x70x1x3xf32>) -> tensor<200x70x23x3xf32>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2, 3] : (tensor<1x1x23x3xf32>) -> tensor<200x70x23x3xf32>
    %6 = stablehlo.subtract %4, %5 : tensor<200x70x23x3xf32>
    %7 = stablehlo.exponential %arg3 : tensor<23x3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1, 2] : (tensor<23x3xf32>) -> tensor<1x23x3xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1, 2, 3] : (tensor<1x23x3xf32>) -> tensor<1x1x23x3xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2, 3] : (tensor<1x1x23x3xf32>) -> tensor<200x70x23x3xf32>
    %11 = stablehlo.divide %6, %10 : tensor<200x70x23x3xf32>
    %12 = stablehlo.multiply %11, %11 : tensor<200x70x23x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%12 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<200x70x23x3xf32>, tensor<f32>) -> tensor<200x70x23xf32>
    %cst_0 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<200x70x23xf32>
    %15 = stablehlo.multiply %14, %13 : tensor<200x70x23xf32>
    %16 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<23xf32>) -> tensor<200x23xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<70x200x23xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %18:6 = stablehlo.while(%iterArg = %0, %iterArg_8 = %15, %iterArg_9 = %arg1, %iterArg_10 = %c, %iterArg_11 = %16, %iterArg_12 = %17) : tensor<70xi32>, tensor<200x70x23xf32>, tensor<23x23xf32>, tensor<i32>, tensor<200x23xf32>, tensor<70x200x23xf32>
    cond {
      %c_13 = stablehlo.constant dense<70> : tensor<i32>
      %36 = stablehlo.compare LT, %iterArg_10, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %36 : tensor<i1>
    } do {
      %36 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_10) : (tensor<70xi32>, tensor<i32>) -> tensor<i32>
      %37:2 = func.call @closed_call(%iterArg_8, %iterArg_9, %iterArg_11, %36) : (tensor<200x70x23xf32>, tensor<23x23xf32>, tensor<200x23xf32>, tensor<i32>) -> (tensor<200x23xf32>, tensor<200x23xf32>)
      %38 = func.call @dynamic_update_index_in_dim(%iterArg_12, %37#1, %iterArg_10) : (tensor<70x200x23xf32>, tensor<200x23xf32>, tensor<i32>) -> tensor<70x200x23xf32>
      %c_13 = stablehlo.constant dense<1> : tensor<i32>
      %39 = stablehlo.add %iterArg_10, %c_13 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_8, %iterArg_9, %39, %37#0, %38 : tensor<70xi32>, tensor<200x70x23xf32>, tensor<23x23xf32>, tensor<i32>, tensor<200x23xf32>, tensor<70x200x23xf32>
    }
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<23xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [1] : (tensor<23xf32>) -> tensor<200x23xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<70x200x23xf32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %22:6 = stablehlo.while(%iterArg = %0, %iterArg_8 = %15, %iterArg_9 = %arg1, %iterArg_10 = %c_4, %iterArg_11 = %20, %iterArg_12 = %21) : tensor<70xi32>, tensor<200x70x23xf32>, tensor<23x23xf32>, tensor<i32>, tensor<200x23xf32>, tensor<70x200x23xf32>
    cond {
      %c_13 = stablehlo.constant dense<70> : tensor<i32>
      %36 = stablehlo.compare LT, %iterArg_10, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %36 : tensor<i1>
    } do {
      %c_13 = stablehlo.constant dense<70> : tensor<i32>
      %36 = stablehlo.subtract %c_13, %iterArg_10 : tensor<i32>
      %c_14 = stablehlo.constant dense<1> : tensor<i32>
      %37 = stablehlo.subtract %36, %c_14 : tensor<i32>
      %38 = func.call @dynamic_index_in_dim(%iterArg, %37) : (tensor<70xi32>, tensor<i32>) -> tensor<i32>
      %39:2 = func.call @closed_call_0(%iterArg_8, %iterArg_9, %iterArg_11, %38) : (tensor<200x70x23xf32>, tensor<23x23xf32>, tensor<200x23xf32>, tensor<i32>) -> (tensor<200x23xf32>, tensor<200x23xf32>)
      %40 = func.call @dynamic_update_index_in_dim(%iterArg_12, %39#1, %37) : (tensor<70x200x23xf32>, tensor<200x23xf32>, tensor<i32>) -> tensor<70x200x23xf32>
      %c_15 = stablehlo.constant dense<1> : tensor<i32>
      %41 = stablehlo.add %iterArg_10, %c_15 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_8, %iterArg_9, %41, %39#0, %40 : tensor<70xi32>, tensor<200x70x23xf32>, tensor<23x23xf32>, tensor<i32>, tensor<200x23xf32>, tensor<70x200x23xf32>
    }
    %23 = stablehlo.multiply %18#5, %22#5 : tensor<70x200x23xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_5) applies stablehlo.add across dimensions = [2] : (tensor<70x200x23xf32>, tensor<f32>) -> tensor<70x200xf32>
    %25 = stablehlo.transpose %24, dims = [1, 0] : (tensor<70x200xf32>) -> tensor<200x70xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1] : (tensor<200x70xf32>) -> tensor<200x70x1xf32>
    %27 = stablehlo.transpose %23, dims = [1, 0, 2] : (tensor<70x200x23xf32>) -> tensor<200x70x23xf32>
    %28 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<200x70x1xf32>) -> tensor<200x70x23xf32>
    %29 = stablehlo.divide %27, %28 : tensor<200x70x23xf32>
    %cst_6 = stablehlo.constant dense<9.99999996E-13> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<200x70x23xf32>
    %31 = stablehlo.add %29, %30 : tensor<200x70x23xf32>
    %32 = stablehlo.log %31 : tensor<200x70x23xf32>
    %33 = stablehlo.multiply %29, %32 : tensor<200x70x23xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.reduce(%33 init: %cst_7) applies stablehlo.add across dimensions = [1, 2] : (tensor<200x70x23xf32>, tensor<f32>) -> tensor<200xf32>
    %35 = stablehlo.negate %34 : tensor<200xf32>
    return %35 : tensor<200xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<70xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<70xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<200x70x23xf32>, %arg1: tensor<23x23xf32>, %arg2: tensor<200x23xf32>, %arg3: tensor<i32>) -> (tensor<200x23xf32>, tensor<200x23xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<70> : tensor<i32>
    %1 = stablehlo.add %arg3, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg3 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %c_1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<23> : tensor<i32>
    %4 = stablehlo.add %c_3, %c_4 : tensor<i32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.select %3, %4, %c_5 : tensor<i1>, tensor<i32>
    %6 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %6, %7, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = "stablehlo.gather"(%arg0, %8) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], start_index_map = [1, 2]>, indices_are_sorted = true, slice_sizes = array<i64: 200, 1, 23>}> : (tensor<200x70x23xf32>, tensor<2xi32>) -> tensor<200x1x23xf32>
    %10 = stablehlo.reshape %9 : (tensor<200x1x23xf32>) -> tensor<200x23xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<200x23xf32>, tensor<f32>) -> tensor<200xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<200xf32>) -> tensor<200x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<200x1xf32>) -> tensor<200x23xf32>
    %14 = stablehlo.subtract %10, %13 : tensor<200x23xf32>
    %15 = stablehlo.exponential %14 : tensor<200x23xf32>
    %16 = stablehlo.multiply %arg2, %15 : tensor<200x23xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<200x23xf32>, tensor<f32>) -> tensor<200xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<200xf32>) -> tensor<200x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<200x1xf32>) -> tensor<200x23xf32>
    %20 = stablehlo.divide %16, %19 : tensor<200x23xf32>
    %21 = stablehlo.dot_general %20, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<200x23xf32>, tensor<23x23xf32>) -> tensor<200x23xf32>
    return %21, %20 : tensor<200x23xf32>, tensor<200x23xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<70x200x23xf32>, %arg1: tensor<200x23xf32>, %arg2: tensor<i32>) -> tensor<70x200x23xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<200x23xf32>) -> tensor<1x200x23xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<70x200x23xf32>, tensor<1x200x23xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<70x200x23xf32>
    return %1 : tensor<70x200x23xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<200x70x23xf32>, %arg1: tensor<23x23xf32>, %arg2: tensor<200x23xf32>, %arg3: tensor<i32>) -> (tensor<200x23xf32>, tensor<200x23xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<70> : tensor<i32>
    %1 = stablehlo.add %arg3, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg3 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.compare LT, %c_1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %c_4 = stablehlo.constant dense<23> : tensor<i32>
    %4 = stablehlo.add %c_3, %c_4 : tensor<i32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.select %3, %4, %c_5 : tensor<i1>, tensor<i32>
    %6 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %6, %7, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = "stablehlo.gather"(%arg0, %8) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], start_index_map = [1, 2]>, indices_are_sorted = true, slice_sizes = array<i64: 200, 1, 23>}> : (tensor<200x70x23xf32>, tensor<2xi32>) -> tensor<200x1x23xf32>
    %10 = stablehlo.reshape %9 : (tensor<200x1x23xf32>) -> tensor<200x23xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<200x23xf32>, tensor<f32>) -> tensor<200xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<200xf32>) -> tensor<200x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<200x1xf32>) -> tensor<200x23xf32>
    %14 = stablehlo.subtract %10, %13 : tensor<200x23xf32>
    %15 = stablehlo.exponential %14 : tensor<200x23xf32>
    %16 = stablehlo.multiply %arg2, %15 : tensor<200x23xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<200x23xf32>, tensor<f32>) -> tensor<200xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<200xf32>) -> tensor<200x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<200x1xf32>) -> tensor<200x23xf32>
    %20 = stablehlo.divide %16, %19 : tensor<200x23xf32>
    %21 = stablehlo.dot_general %arg1, %20, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<23x23xf32>, tensor<200x23xf32>) -> tensor<23x200xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<23x200xf32>) -> tensor<200x23xf32>
    return %22, %arg2 : tensor<200x23xf32>, tensor<200x23xf32>
  }
}
