// Work items for all cores: rows are cut shorter where there are many cores, and where there are few rows.
// RUN: %weir opt %s --tensor-size-threshold 100000 --tile on --machine x86-64-v3,cores=2 --debug 3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: %weir opt %s --tensor-size-threshold 100000 --tile on --machine x86-64-v3,cores=64 --debug 3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// TWO-DAG: row 256 column 900 {{.*}} 128 rows an item
// TWO-DAG: row 20000 column 300 {{.*}} 628 rows an item
// MANY-DAG: row 256 column 900 {{.*}} 32 rows an item
// MANY-DAG: row 20000 column 300 {{.*}} 316 rows an item
func.func @main(%x: tensor<256x3xf32>, %y: tensor<900x3xf32>, %z: tensor<20000x3xf32>, %u: tensor<300x3xf32>) -> (tensor<256xf32>, tensor<20000xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<256x3xf32>, tensor<900x3xf32>) -> tensor<256x900xf32>
  %e = stablehlo.exponential %p : tensor<256x900xf32>
  %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x900xf32>, tensor<f32>) -> tensor<256xf32>
  %q = stablehlo.dot_general %z, %u, contracting_dims = [1] x [1] : (tensor<20000x3xf32>, tensor<300x3xf32>) -> tensor<20000x300xf32>
  %f = stablehlo.exponential %q : tensor<20000x300xf32>
  %s = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<20000x300xf32>, tensor<f32>) -> tensor<20000xf32>
  return %r, %s : tensor<256xf32>, tensor<20000xf32>
}
