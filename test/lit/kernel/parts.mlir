// Row sums that go into statistics along the columns: no nest has both, so the loop becomes two, the second with the first's result as an input.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s

// CHECK: kernel: row 100 column 300; 1 passes, 1 + 0 reductions;
// CHECK: kernel: column 100 row 300; 1 passes, 2 + 0 reductions;
// CHECK: %[[F:[a-z0-9]+]]:2 = "stablehlo.custom_call"(%arg0, %arg1) <{api_version = 4
// CHECK: %{{[a-z0-9]+}}:3 = "stablehlo.custom_call"(%arg0, %arg1, %[[F]]#0,
// CHECK: "func.return"(%[[F]]#0,

module @parts {
  func.func public @main(%x: tensor<100xf32>, %y: tensor<300xf32>) -> (tensor<100xf32>, tensor<300xf32>) {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<100xf32>) -> tensor<100x300xf32>
    %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<300xf32>) -> tensor<100x300xf32>
    %c = stablehlo.multiply %a, %b : tensor<100x300xf32>
    %e = stablehlo.exponential %c : tensor<100x300xf32>
    %f = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x300xf32>, tensor<f32>) -> tensor<100xf32>
    %h = stablehlo.broadcast_in_dim %f, dims = [0] : (tensor<100xf32>) -> tensor<100x300xf32>
    %d = stablehlo.subtract %h, %c : tensor<100x300xf32>
    %g = stablehlo.reduce(%d init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<100x300xf32>, tensor<f32>) -> tensor<300xf32>
    %top = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<300xf32>) -> tensor<100x300xf32>
    %u = stablehlo.subtract %d, %top : tensor<100x300xf32>
    %w = stablehlo.exponential %u : tensor<100x300xf32>
    %z = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100x300xf32>, tensor<f32>) -> tensor<300xf32>
    return %f, %z : tensor<100xf32>, tensor<300xf32>
  }
}
