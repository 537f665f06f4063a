// What a split leaves of a while until dce: its counter is read, and of two others, which nobody reads,
// each makes the other's next value. XLA would keep these; dce takes them out of what has weir.loops,
// so there they don't count. They count where nothing is split.
// RUN: sed -n '/^.. SPLIT/,/^.. WHOLE/p' %s | %weir plan - | FileCheck %s --check-prefix=SPLIT
// RUN: sed -n '/^.. WHOLE/,$p' %s | %weir plan - | FileCheck %s --check-prefix=WHOLE
// A while with attributes keeps them (set_xla_metadata): attributes may list all carries.
// RUN: sed -n '/^.. SPLIT/,/^.. WHOLE/p' %s | sed '/while/s/$/ attributes {mhlo.frontend_attributes = {a = "b"}}/' | %weir plan - | FileCheck %s --check-prefix=WHOLE

// SPLIT: before, estimated: peak 16.{{.*}} temporaries {{[0-9.]+}} B
func.func @main(%x: tensor<256x8xf32>, %n: tensor<i32>) -> (tensor<256x8xf32>, tensor<i32>) {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %wide = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<256x8xf32>) -> tensor<256x8x64xf32>
  %r:3 = stablehlo.while(%i = %start, %a = %wide, %b = %wide) : tensor<i32>, tensor<256x8x64xf32>, tensor<256x8x64xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %c = stablehlo.cosine %a : tensor<256x8x64xf32>
    %t = stablehlo.tanh %b : tensor<256x8x64xf32>
    stablehlo.return %j, %t, %c : tensor<i32>, tensor<256x8x64xf32>, tensor<256x8x64xf32>
  }
  %y = "weir.loop"(%x) <{extent = 256 : i64, slice = 4 : i64, in_dims = array<i64: 0>, in_units = array<i64: 1>, out_dims = array<i64: 0>, out_units = array<i64: 1>}> ({
  ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %s: tensor<4x8xf32>):
    %t = stablehlo.tanh %s : tensor<4x8xf32>
    "weir.yield"(%t) : (tensor<4x8xf32>) -> ()
  }) : (tensor<256x8xf32>) -> tensor<256x8xf32>
  return %y, %r#0 : tensor<256x8xf32>, tensor<i32>
}

// WHOLE: before, estimated: peak {{.*}} temporaries {{1|2}}.{{[0-9]+}} MB
func.func @main(%x: tensor<256x8xf32>, %n: tensor<i32>) -> (tensor<256x8xf32>, tensor<i32>) {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %wide = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<256x8xf32>) -> tensor<256x8x64xf32>
  %r:3 = stablehlo.while(%i = %start, %a = %wide, %b = %wide) : tensor<i32>, tensor<256x8x64xf32>, tensor<256x8x64xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %c = stablehlo.cosine %a : tensor<256x8x64xf32>
    %t = stablehlo.tanh %b : tensor<256x8x64xf32>
    stablehlo.return %j, %t, %c : tensor<i32>, tensor<256x8x64xf32>, tensor<256x8x64xf32>
  }
  %y = stablehlo.tanh %x : tensor<256x8xf32>
  return %y, %r#0 : tensor<256x8xf32>, tensor<i32>
}
