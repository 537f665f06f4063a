// The driver: which passes run, dumps, stops, logs.
// RUN: %weir opt %s --pass=cse | FileCheck %s --check-prefix=ONE
// ONE: "stablehlo.tanh"
// ONE-NEXT: "stablehlo.sine"
// ONE-NEXT: "stablehlo.add"
//
// RUN: %weir opt %s --pass="cse, dce" | FileCheck %s --check-prefix=TWO
// TWO: "stablehlo.tanh"
// TWO-NEXT: "stablehlo.add"
//
// RUN: %weir opt %s --pass=cse,dce --skip=cse | FileCheck %s --check-prefix=SKIP
// SKIP: "stablehlo.tanh"
// SKIP-NEXT: "stablehlo.tanh"
// SKIP-NEXT: "stablehlo.add"
//
// RUN: %weir opt %s --pass=cse,dce --stop-after=cse | FileCheck %s --check-prefix=ONE
//
// A dump is valid input, and says which pass it stands behind.
// RUN: %weir opt %s --pass=cse,dce --dump-after=cse -o %t.out 2>%t.err
// RUN: FileCheck %s --check-prefix=DUMP --input-file=%t.err
// RUN: FileCheck %s --check-prefix=TWO --input-file=%t.out
// DUMP: // ---- after cse
// DUMP: "stablehlo.sine"
// DUMP-NOT: // ---- after
// RUN: %weir opt %t.err --pass=dce | FileCheck %s --check-prefix=TWO
//
// RUN: %weir opt %s --pass=cse,dce --dump-after=all -o %t.out 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: // ---- after cse
// ALL: // ---- after dce
//
// RUN: %weir opt %s --pass=cse,dce,simplify --debug=2 -o %t.out 2>&1 | FileCheck %s --check-prefix=LOG
// LOG: weir: pass simplify: 6 ops (unchanged), {{[0-9.]+}} ms
// LOG-NEXT: weir: pass cse: 6 -> 5 ops, {{[0-9.]+}} ms
// LOG-NEXT: weir: pass dce: 5 -> 4 ops, {{[0-9.]+}} ms
//
// RUN: not %weir opt %s --pass=cse,ces 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %weir opt %s --pass=cse --skip=ces 2>&1 | FileCheck %s --check-prefixes=UNKNOWN,SETTINGS
// RUN: not %weir opt %s --pass=cse --dump-after=ces 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not %weir opt %s --pass=cse --stop-after=ces 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: INVALID_ARGUMENT: no pass named "ces"; there are {{.*}}inline, {{.*}}simplify, {{.*}}cse, {{.*}}dce
// SETTINGS-SAME: {{, accumulators, steps, fit, slices, functions$}}
func.func public @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32>
  %1 = stablehlo.tanh %a : tensor<2xf32>
  %2 = stablehlo.sine %a : tensor<2xf32>
  %3 = stablehlo.add %0, %1 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
