// An attribute that is kept as text for it does not read has no place in VHLO.
// RUN: %weir opt %s --pass= | FileCheck %s
// RUN: not %weir opt %s --pass= --emit bytecode -o %t.mlirbc 2>&1 | FileCheck %s --check-prefix=BYTES
// CHECK: start_indices = arrav<i64: 2>
// BYTES: 'start_indices' does not read
func.func @main(%x: tensor<8xf32>) -> tensor<6xf32> {
  %0 = "stablehlo.slice"(%x) <{start_indices = arrav<i64: 2>, limit_indices = array<i64: 8>, strides = array<i64: 1>}> : (tensor<8xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
