// Soft dynamic time warping of 64 pairs of series, a scan in a scan: the costs, 64 x 40 x 40, can be
// cut along the pairs, but then the scans run once for each slice. Made row by row in the steps that
// read them they run once. What the series are broadcast from is read from outside.
// RUN: %weir opt %s --memory-limit 140kB --debug 3 -o /dev/null 2>&1 | FileCheck %s
// CHECK:     weir: split
// CHECK:     weir: parts of 409600 bytes are made in the trips that read them
// CHECK-NOT: weir: split
// RUN: %weir opt %s --memory-limit 140kB | FileCheck --check-prefix=OUT %s
// OUT-NOT: 64x40x40x
// OUT:     "stablehlo.while"
// OUT:     -> tensor<64x1x40x4xf32>
// OUT:     "stablehlo.while"
// OUT-NOT: "stablehlo.while"
module @jit_soft_dtw attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x40x4xf32>, %arg1: tensor<64x40x4xf32>) -> (tensor<64xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 3] : (tensor<64x40x4xf32>) -> tensor<64x40x1x4xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2, 3] : (tensor<64x40x4xf32>) -> tensor<64x1x40x4xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<64x40x1x4xf32>) -> tensor<64x40x40x4xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<64x1x40x4xf32>) -> tensor<64x40x40x4xf32>
    %4 = stablehlo.subtract %2, %3 : tensor<64x40x40x4xf32>
    %5 = stablehlo.multiply %4, %4 : tensor<64x40x40x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.reduce(%5 init: %cst) applies stablehlo.add across dimensions = [3] : (tensor<64x40x40x4xf32>, tensor<f32>) -> tensor<64x40x40xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+06> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %9 = stablehlo.convert %8 : tensor<40xf32>
    %10 = stablehlo.concatenate %7, %9, dim = 0 : (tensor<1xf32>, tensor<40xf32>) -> tensor<41xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<41xf32>) -> tensor<64x41xf32>
    %12 = stablehlo.transpose %6, dims = [1, 0, 2] : (tensor<64x40x40xf32>) -> tensor<40x64x40xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %13:3 = stablehlo.while(%iterArg = %12, %iterArg_2 = %c, %iterArg_3 = %11) : tensor<40x64x40xf32>, tensor<i32>, tensor<64x41xf32>
    cond {
      %c_4 = stablehlo.constant dense<40> : tensor<i32>
      %16 = stablehlo.compare LT, %iterArg_2, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %16 : tensor<i1>
    } do {
      %16 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<40x64x40xf32>, tensor<i32>) -> tensor<64x40xf32>
      %17 = func.call @closed_call(%iterArg_3, %16) : (tensor<64x41xf32>, tensor<64x40xf32>) -> tensor<64x41xf32>
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %18 = stablehlo.add %iterArg_2, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %18, %17 : tensor<40x64x40xf32>, tensor<i32>, tensor<64x41xf32>
    }
    %14 = stablehlo.slice %13#2 [0:64, 40:41] : (tensor<64x41xf32>) -> tensor<64x1xf32>
    %15 = stablehlo.reshape %14 : (tensor<64x1xf32>) -> tensor<64xf32>
    return %15 : tensor<64xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<40x64x40xf32>, %arg1: tensor<i32>) -> tensor<64x40xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 64, 40] : (tensor<40x64x40xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x40xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64x40xf32>) -> tensor<64x40xf32>
    return %1 : tensor<64x40xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x41xf32>, %arg1: tensor<64x40xf32>) -> tensor<64x41xf32> {
    %0 = stablehlo.slice %arg0 [0:64, 1:41] : (tensor<64x41xf32>) -> tensor<64x40xf32>
    %1 = stablehlo.slice %arg0 [0:64, 0:40] : (tensor<64x41xf32>) -> tensor<64x40xf32>
    %cst = stablehlo.constant dense<1.000000e+06> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %3 = stablehlo.transpose %0, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %4 = stablehlo.transpose %1, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %5 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<64x40xf32>) -> tensor<40x64xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<40x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %7:6 = stablehlo.while(%iterArg = %3, %iterArg_2 = %4, %iterArg_3 = %5, %iterArg_4 = %c, %iterArg_5 = %2, %iterArg_6 = %6) : tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<i32>, tensor<64xf32>, tensor<40x64xf32>
    cond {
      %c_7 = stablehlo.constant dense<40> : tensor<i32>
      %12 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12 = func.call @dynamic_index_in_dim_0(%iterArg, %iterArg_4) : (tensor<40x64xf32>, tensor<i32>) -> tensor<64xf32>
      %13 = func.call @dynamic_index_in_dim_0(%iterArg_2, %iterArg_4) : (tensor<40x64xf32>, tensor<i32>) -> tensor<64xf32>
      %14 = func.call @dynamic_index_in_dim_0(%iterArg_3, %iterArg_4) : (tensor<40x64xf32>, tensor<i32>) -> tensor<64xf32>
      %15:2 = func.call @closed_call_1(%iterArg_5, %12, %13, %14) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>)
      %16 = func.call @dynamic_update_index_in_dim(%iterArg_6, %15#1, %iterArg_4) : (tensor<40x64xf32>, tensor<64xf32>, tensor<i32>) -> tensor<40x64xf32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %17 = stablehlo.add %iterArg_4, %c_7 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_2, %iterArg_3, %17, %15#0, %16 : tensor<40x64xf32>, tensor<40x64xf32>, tensor<40x64xf32>, tensor<i32>, tensor<64xf32>, tensor<40x64xf32>
    }
    %cst_1 = stablehlo.constant dense<1.000000e+06> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<1xf32>) -> tensor<64x1xf32>
    %10 = stablehlo.transpose %7#5, dims = [1, 0] : (tensor<40x64xf32>) -> tensor<64x40xf32>
    %11 = stablehlo.concatenate %9, %10, dim = 1 : (tensor<64x1xf32>, tensor<64x40xf32>) -> tensor<64x41xf32>
    return %11 : tensor<64x41xf32>
  }
  func.func private @dynamic_index_in_dim_0(%arg0: tensor<40x64xf32>, %arg1: tensor<i32>) -> tensor<64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 64] : (tensor<40x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x64xf32>) -> tensor<64xf32>
    return %1 : tensor<64xf32>
  }
  func.func private @closed_call_1(%arg0: tensor<64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %3 = stablehlo.concatenate %0, %1, %2, dim = 0 : (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<3x64xf32>
    %4 = stablehlo.negate %3 : tensor<3x64xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<3x64xf32>, tensor<f32>) -> tensor<64xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %7 = stablehlo.maximum %6, %5 : tensor<64xf32>
    %8 = stablehlo.is_finite %7 : (tensor<64xf32>) -> tensor<64xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %10 = stablehlo.select %8, %7, %9 : tensor<64xi1>, tensor<64xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0] : (tensor<64xf32>) -> tensor<64x1xf32>
    %12 = stablehlo.transpose %4, dims = [1, 0] : (tensor<3x64xf32>) -> tensor<64x3xf32>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<64x1xf32>) -> tensor<64x3xf32>
    %14 = stablehlo.subtract %12, %13 : tensor<64x3xf32>
    %15 = stablehlo.exponential %14 : tensor<64x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<64x3xf32>, tensor<f32>) -> tensor<64xf32>
    %17 = stablehlo.abs %16 : tensor<64xf32>
    %18 = stablehlo.log %17 : tensor<64xf32>
    %19 = stablehlo.add %18, %10 : tensor<64xf32>
    %20 = stablehlo.subtract %arg3, %19 : tensor<64xf32>
    return %20, %20 : tensor<64xf32>, tensor<64xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<40x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<i32>) -> tensor<40x64xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<40x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<40x64xf32>
    return %1 : tensor<40x64xf32>
  }
}

