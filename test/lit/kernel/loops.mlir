// A covered loop becomes a call with scratch as its last result; one with an op that tiles lack stays XLA's.
// REQUIRES: llvm
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 | FileCheck %s
// RUN: %weir opt %s --tensor-size-threshold 20000 | FileCheck %s --check-prefix=OFF
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 --platform cuda | FileCheck %s --check-prefix=OFF
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 --skip kernels | FileCheck %s --check-prefix=OFF
// RUN: %weir opt %s --tensor-size-threshold 20000 --tile on --machine x86-64-v4 --debug 3 2>&1 | FileCheck %s --check-prefix=WHY

// WHY-DAG: kernel: row 100 column 300; 1 passes, 1 + 0 reductions;
// WHY-DAG: no kernel: stablehlo.reverse

// CHECK: %[[SUM:[a-z0-9]+]]:2 = "stablehlo.custom_call"(%arg0, %arg1
// CHECK-SAME: api_version = 4 : i32, backend_config = {body = "weir-tile 9: x86-64-v4,cores=2,l1=48KiB,l2=2MiB,l3=16MiB 4 {{[0-9]+}} {{[0-9]+}} {{[0-9]+}} {{[0-9]+}} {{[0-9]+}}\0A
// CHECK-SAME: weir.loop
// CHECK-SAME: call_target_name = "weir_tile", operand_layouts = [dense<{{.*}}> : tensor<1xindex>,
// CHECK-SAME: -> (tensor<100xf32>, tensor<{{[0-9]+}}xui8>)
// CHECK: stablehlo.while
// CHECK: func.return

// OFF-NOT: weir_tile
// OFF: stablehlo.while
// OFF-NOT: weir_tile
func.func @main(%x: tensor<100xf32>, %y: tensor<300xf32>, %u: tensor<90xf32>, %v: tensor<290xf32>) -> (tensor<100xf32>, tensor<90xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<100xf32>) -> tensor<100x300xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<300xf32>) -> tensor<100x300xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<100x300xf32>
  %3 = stablehlo.exponential %2 : tensor<100x300xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x300xf32>, tensor<f32>) -> tensor<100xf32>
  %5 = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<90xf32>) -> tensor<90x290xf32>
  %6 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<290xf32>) -> tensor<90x290xf32>
  %7 = stablehlo.subtract %5, %6 : tensor<90x290xf32>
  %8 = stablehlo.tanh %7 : tensor<90x290xf32>
  %9 = stablehlo.reverse %8, dims = [1] : tensor<90x290xf32>
  %10 = stablehlo.multiply %9, %6 : tensor<90x290xf32>
  %11 = stablehlo.reduce(%10 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<90x290xf32>, tensor<f32>) -> tensor<90xf32>
  return %4, %11 : tensor<100xf32>, tensor<90xf32>
}
