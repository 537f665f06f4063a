// An attribute that does not read is kept as text. Where VHLO has a list of another type, it has no place.
// RUN: %weir opt %s --pass= | FileCheck %s
// RUN: not %weir opt %s --pass= --emit bytecode -o %t.mlirbc 2>&1 | FileCheck %s --check-prefix=BYTES
// CHECK: called_computations = arrav<i64: 2>
// BYTES: 'called_computations' does not read
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "f", called_computations = arrav<i64: 2>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
