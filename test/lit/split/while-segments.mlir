// A scan that keeps three values of each of 300 steps for its gradient, 64 numbers wide. Slices of the 64 would run
// both scans once for each; segments of the 300 steps run one of them twice, and are taken where they hold.
// RUN: %weir opt %s --memory-limit 180kB --tile off --debug 3 2>&1 >/dev/null | FileCheck %s
// RUN: %weir plan %s --memory-limit 180kB --tile off | FileCheck %s --check-prefix=PLAN

// CHECK: slices of {{.*}} estimated peak 1
// CHECK: checkpoint a while: 300 trips
// PLAN: outcome  rewritten, 2 loops
// PLAN-NOT: warning
// PLAN: 300 {{.*}}while

module @jit_kept_steps attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64xf32>, %arg1: tensor<300x64xf32>, %arg2: tensor<64xf32>) -> (tensor<64xf32> {jax.result_info = "result[0]"}, tensor<300x64xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<300x64xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<300x64xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<300x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<300x64xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<300x64xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<300x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7:10 = stablehlo.while(%iterArg = %arg1, %iterArg_10 = %arg0, %iterArg_11 = %c, %iterArg_12 = %0, %iterArg_13 = %1, %iterArg_14 = %2, %iterArg_15 = %3, %iterArg_16 = %4, %iterArg_17 = %5, %iterArg_18 = %6) : tensor<300x64xf32>, tensor<64xf32>, tensor<i32>, tensor<64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>
    cond {
      %c_19 = stablehlo.constant dense<300> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_11, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %13 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_11) : (tensor<300x64xf32>, tensor<i32>) -> tensor<64xf32>
      %14:7 = func.call @closed_call(%iterArg_10, %iterArg_12, %13) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
      %15 = func.call @dynamic_update_index_in_dim(%iterArg_13, %14#1, %iterArg_11) : (tensor<300x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<300x64xf32>
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_14, %14#2, %iterArg_11) : (tensor<300x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<300x64xf32>
      %17 = func.call @dynamic_update_index_in_dim(%iterArg_15, %14#3, %iterArg_11) : (tensor<300x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<300x64xf32>
      %18 = func.call @dynamic_update_index_in_dim(%iterArg_16, %14#4, %iterArg_11) : (tensor<300x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<300x64xf32>
      %19 = func.call @dynamic_update_index_in_dim(%iterArg_17, %14#5, %iterArg_11) : (tensor<300x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<300x64xf32>
      %20 = func.call @dynamic_update_index_in_dim(%iterArg_18, %14#6, %iterArg_11) : (tensor<300x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<300x64xf32>
      %c_19 = stablehlo.constant dense<1> : tensor<i32>
      %21 = stablehlo.add %iterArg_11, %c_19 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %21, %14#0, %15, %16, %17, %18, %19, %20 : tensor<300x64xf32>, tensor<64xf32>, tensor<i32>, tensor<64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>
    }
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %9 = stablehlo.multiply %8, %arg2 : tensor<64xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<300x64xf32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %11:10 = stablehlo.while(%iterArg = %7#4, %iterArg_10 = %7#5, %iterArg_11 = %7#6, %iterArg_12 = %7#7, %iterArg_13 = %7#8, %iterArg_14 = %7#9, %iterArg_15 = %arg0, %iterArg_16 = %c_8, %iterArg_17 = %9, %iterArg_18 = %10) : tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<64xf32>, tensor<i32>, tensor<64xf32>, tensor<300x64xf32>
    cond {
      %c_19 = stablehlo.constant dense<300> : tensor<i32>
      %13 = stablehlo.compare LT, %iterArg_16, %c_19, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %13 : tensor<i1>
    } do {
      %c_19 = stablehlo.constant dense<300> : tensor<i32>
      %13 = stablehlo.subtract %c_19, %iterArg_16 : tensor<i32>
      %c_20 = stablehlo.constant dense<1> : tensor<i32>
      %14 = stablehlo.subtract %13, %c_20 : tensor<i32>
      %15 = func.call @dynamic_index_in_dim(%iterArg, %14) : (tensor<300x64xf32>, tensor<i32>) -> tensor<64xf32>
      %16 = func.call @dynamic_index_in_dim(%iterArg_10, %14) : (tensor<300x64xf32>, tensor<i32>) -> tensor<64xf32>
      %17 = func.call @dynamic_index_in_dim(%iterArg_11, %14) : (tensor<300x64xf32>, tensor<i32>) -> tensor<64xf32>
      %18 = func.call @dynamic_index_in_dim(%iterArg_12, %14) : (tensor<300x64xf32>, tensor<i32>) -> tensor<64xf32>
      %19 = func.call @dynamic_index_in_dim(%iterArg_13, %14) : (tensor<300x64xf32>, tensor<i32>) -> tensor<64xf32>
      %20 = func.call @dynamic_index_in_dim(%iterArg_14, %14) : (tensor<300x64xf32>, tensor<i32>) -> tensor<64xf32>
      %21:2 = func.call @closed_call_0(%iterArg_15, %iterArg_17, %15, %16, %17, %18, %19, %20) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
      %22 = func.call @dynamic_update_index_in_dim(%iterArg_18, %21#1, %14) : (tensor<300x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<300x64xf32>
      %c_21 = stablehlo.constant dense<1> : tensor<i32>
      %23 = stablehlo.add %iterArg_16, %c_21 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_10, %iterArg_11, %iterArg_12, %iterArg_13, %iterArg_14, %iterArg_15, %23, %21#0, %22 : tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<300x64xf32>, tensor<64xf32>, tensor<i32>, tensor<64xf32>, tensor<300x64xf32>
    }
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<64xf32>
    return %12, %11#9 : tensor<64xf32>, tensor<300x64xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<300x64xf32>, %arg1: tensor<i32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 64] : (tensor<300x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64xf32>) -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
  func.func private @closed_call(%arg0: tensor<64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    %0 = stablehlo.multiply %arg1, %arg0 : tensor<64xf32>
    %1 = stablehlo.exponential %0 : tensor<64xf32>
    %2 = stablehlo.subtract %arg2, %arg1 : tensor<64xf32>
    %3 = stablehlo.exponential %2 : tensor<64xf32>
    %4 = stablehlo.multiply %1, %arg1 : tensor<64xf32>
    %5 = stablehlo.add %4, %3 : tensor<64xf32>
    %6 = stablehlo.add %1, %3 : tensor<64xf32>
    %7 = stablehlo.divide %5, %6 : tensor<64xf32>
    %8 = stablehlo.multiply %6, %6 : tensor<64xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %10 = stablehlo.divide %9, %8 : tensor<64xf32>
    return %7, %1, %3, %arg1, %6, %5, %10 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<300x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<i32>) -> tensor<300x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<300x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<300x64xf32>
    return %1 : tensor<300x64xf32>
  }
  func.func private @closed_call_0(%arg0: tensor<64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %0 = stablehlo.multiply %arg1, %arg7 : tensor<64xf32>
    %1 = stablehlo.multiply %0, %arg6 : tensor<64xf32>
    %2 = stablehlo.negate %1 : tensor<64xf32>
    %3 = stablehlo.divide %arg1, %arg5 : tensor<64xf32>
    %4 = stablehlo.add %2, %3 : tensor<64xf32>
    %5 = stablehlo.multiply %arg2, %3 : tensor<64xf32>
    %6 = stablehlo.multiply %3, %arg4 : tensor<64xf32>
    %7 = stablehlo.add %2, %6 : tensor<64xf32>
    %8 = stablehlo.multiply %4, %arg3 : tensor<64xf32>
    %9 = stablehlo.negate %8 : tensor<64xf32>
    %10 = stablehlo.add %5, %9 : tensor<64xf32>
    %11 = stablehlo.multiply %7, %arg2 : tensor<64xf32>
    %12 = stablehlo.multiply %11, %arg0 : tensor<64xf32>
    %13 = stablehlo.add %10, %12 : tensor<64xf32>
    return %13, %8 : tensor<64xf32>, tensor<64xf32>
  }
}

