// The gradient of a contrastive loss: what a trip adds to the gradient of the weights is as large as
// that, and is added block by block, where nothing holds without.
// RUN: %weir opt %s --memory-limit 1150kB --debug 2 2>&1 >%t | FileCheck %s --check-prefix=WAY
// RUN: FileCheck %s < %t
// What a refusal names, and the smallest limit, are found this way, too.
// RUN: not %weir opt %s --memory-limit 1000kB 2>&1 >/dev/null | FileCheck %s --check-prefix=REFUSED
// RUN: %weir plan %s | FileCheck %s --check-prefix=MINIMUM

// WAY: nothing holds: sums added block by block
// WAY-NOT: nothing holds
// REFUSED: set it to {{.*}} or more (1.07 MB)
// MINIMUM: minimum  1.07 MB
// CHECK: sym_name = "main"
// CHECK: "stablehlo.dynamic_update_slice"({{.*}}) : (tensor<256x128xf32>
module @jit_infonce_w attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x256xf32>, %arg1: tensor<256x128xf32>) -> (tensor<256x128xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x256xf32>, tensor<256x128xf32>) -> tensor<512x128xf32>
    %1:2 = call @norm(%0) : (tensor<512x128xf32>) -> (tensor<512x1xf32>, tensor<512x1xf32>)
    %2 = stablehlo.broadcast_in_dim %1#0, dims = [0, 1] : (tensor<512x1xf32>) -> tensor<512x128xf32>
    %3 = stablehlo.divide %0, %2 : tensor<512x128xf32>
    %4 = stablehlo.multiply %1#0, %1#0 : tensor<512x1xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x1xf32>
    %6 = stablehlo.divide %5, %4 : tensor<512x1xf32>
    %7 = stablehlo.transpose %3, dims = [1, 0] : (tensor<512x128xf32>) -> tensor<128x512xf32>
    %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x128xf32>, tensor<128x512xf32>) -> tensor<512x512xf32>
    %cst_0 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %10 = stablehlo.divide %8, %9 : tensor<512x512xf32>
    %11:2 = call @log_softmax(%10) : (tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x1xf32>)
    %12:3 = call @diagonal() : () -> (tensor<i32>, tensor<512x512xf32>, tensor<512x2xi32>)
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.negate %cst_1 : tensor<f32>
    %cst_2 = stablehlo.constant dense<5.120000e+02> : tensor<f32>
    %14 = stablehlo.divide %13, %cst_2 : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %16 = call @diagonal_0(%12#0, %12#1, %12#2, %15) : (tensor<i32>, tensor<512x512xf32>, tensor<512x2xi32>, tensor<512xf32>) -> tensor<512x512xf32>
    %17 = call @log_softmax_1(%11#0, %11#1, %16) : (tensor<512x512xf32>, tensor<512x1xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %cst_3 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
    %19 = stablehlo.divide %17, %18 : tensor<512x512xf32>
    %20 = stablehlo.dot_general %19, %3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x512xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<512x128xf32>) -> tensor<128x512xf32>
    %22 = stablehlo.dot_general %19, %7, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<512x512xf32>, tensor<128x512xf32>) -> tensor<512x128xf32>
    %23 = stablehlo.transpose %21, dims = [1, 0] : (tensor<128x512xf32>) -> tensor<512x128xf32>
    %24 = stablehlo.add %22, %23 : tensor<512x128xf32>
    %25 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<512x1xf32>) -> tensor<512x128xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<512x128xf32>
    %27 = stablehlo.multiply %26, %0 : tensor<512x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<512x128xf32>, tensor<f32>) -> tensor<512xf32>
    %29 = stablehlo.reshape %28 : (tensor<512xf32>) -> tensor<512x1xf32>
    %30 = stablehlo.negate %29 : tensor<512x1xf32>
    %31 = stablehlo.broadcast_in_dim %1#0, dims = [0, 1] : (tensor<512x1xf32>) -> tensor<512x128xf32>
    %32 = stablehlo.divide %24, %31 : tensor<512x128xf32>
    %33 = call @norm_2(%0, %1#1, %30) : (tensor<512x128xf32>, tensor<512x1xf32>, tensor<512x1xf32>) -> tensor<512x128xf32>
    %34 = stablehlo.add %32, %33 : tensor<512x128xf32>
    %35 = stablehlo.dot_general %34, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x128xf32>, tensor<512x256xf32>) -> tensor<128x256xf32>
    %36 = stablehlo.transpose %35, dims = [1, 0] : (tensor<128x256xf32>) -> tensor<256x128xf32>
    return %36 : tensor<256x128xf32>
  }
  func.func private @norm(%arg0: tensor<512x128xf32>) -> (tensor<512x1xf32>, tensor<512x1xf32>) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<512x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<512x128xf32>, tensor<f32>) -> tensor<512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<512xf32>) -> tensor<512x1xf32>
    %3 = stablehlo.sqrt %2 : tensor<512x1xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<512x1xf32>
    %5 = stablehlo.divide %4, %3 : tensor<512x1xf32>
    return %3, %5 : tensor<512x1xf32>, tensor<512x1xf32>
  }
  func.func private @log_softmax(%arg0: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<512xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<512xf32>) -> tensor<512x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<512x1xf32>) -> tensor<512x512xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<512x512xf32>
    %6 = stablehlo.exponential %5 : tensor<512x512xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<512xf32>) -> tensor<512x1xf32>
    return %6, %8 : tensor<512x512xf32>, tensor<512x1xf32>
  }
  func.func private @diagonal() -> (tensor<i32>, tensor<512x512xf32>, tensor<512x2xi32>) {
    %0 = stablehlo.iota dim = 0 : tensor<512x512xi32>
    %1 = stablehlo.iota dim = 1 : tensor<512x512xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512x512xi32>
    %3 = stablehlo.add %0, %2 : tensor<512x512xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<512x512xi32>, tensor<512x512xi32>) -> tensor<512x512xi1>
    %5 = stablehlo.convert %4 : (tensor<512x512xi1>) -> tensor<512x512xf32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7:2 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<512xi32>
      %9 = stablehlo.iota dim = 0 : tensor<512xi32>
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
      %c_2 = stablehlo.constant dense<512> : tensor<i32>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %13 = stablehlo.add %8, %12 : tensor<512xi32>
      %14 = stablehlo.select %11, %13, %8 : tensor<512xi1>, tensor<512xi32>
      %c_3 = stablehlo.constant dense<0> : tensor<i32>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
      %c_4 = stablehlo.constant dense<512> : tensor<i32>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<512xi32>
      %18 = stablehlo.add %9, %17 : tensor<512xi32>
      %19 = stablehlo.select %16, %18, %9 : tensor<512xi1>, tensor<512xi32>
      %20 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
      %21 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
      %22 = stablehlo.concatenate %20, %21, dim = 1 : (tensor<512x1xi32>, tensor<512x1xi32>) -> tensor<512x2xi32>
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %23 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
      stablehlo.return %23, %22 : tensor<512x512xf32>, tensor<512x2xi32>
    }) : (tensor<i32>) -> (tensor<512x512xf32>, tensor<512x2xi32>)
    return %c_0, %7#0, %7#1 : tensor<i32>, tensor<512x512xf32>, tensor<512x2xi32>
  }
  func.func private @diagonal_0(%arg0: tensor<i32>, %arg1: tensor<512x512xf32>, %arg2: tensor<512x2xi32>, %arg3: tensor<512xf32>) -> tensor<512x512xf32> {
    %0 = "stablehlo.case"(%arg0) ({
      %c = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }, {
      %c = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
      %3 = "stablehlo.scatter"(%2, %arg2, %arg3) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %4 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }) : (tensor<512x512xf32>, tensor<512x2xi32>, tensor<512xf32>) -> tensor<512x512xf32>
      stablehlo.return %3 : tensor<512x512xf32>
    }) : (tensor<i32>) -> tensor<512x512xf32>
    return %1 : tensor<512x512xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<512x512xf32>, %arg1: tensor<512x1xf32>, %arg2: tensor<512x512xf32>) -> tensor<512x512xf32> {
    %0 = stablehlo.negate %arg2 : tensor<512x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
    %2 = stablehlo.reshape %1 : (tensor<512xf32>) -> tensor<512x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<512x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<512x1xf32>, tensor<f32>) -> tensor<512xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<512xf32>) -> tensor<512x512xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<512x512xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<512x512xf32>
    return %7 : tensor<512x512xf32>
  }
  func.func private @norm_2(%arg0: tensor<512x128xf32>, %arg1: tensor<512x1xf32>, %arg2: tensor<512x1xf32>) -> tensor<512x128xf32> {
    %0 = stablehlo.multiply %arg2, %arg1 : tensor<512x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<512x1xf32>, tensor<f32>) -> tensor<512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<512xf32>) -> tensor<512x128xf32>
    %3 = stablehlo.multiply %arg0, %2 : tensor<512x128xf32>
    %4 = stablehlo.multiply %2, %arg0 : tensor<512x128xf32>
    %5 = stablehlo.add %3, %4 : tensor<512x128xf32>
    return %5 : tensor<512x128xf32>
  }
}
