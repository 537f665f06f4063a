// What no trip of a while changes is made before it.
// RUN: %weir opt %s --pass=hoist,dce --tensor-size-threshold 1MB | FileCheck %s

func.func public @main(%x: tensor<1000xf32>, %w: tensor<1000xf32>, %a: tensor<20x20xf32>) -> (tensor<1000xf32>, tensor<1000xf32>, tensor<20x20xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>

// With what it is made of, which is made inside, too, where others read it: moves alone do not go.
// CHECK:      %[[TWO:[0-9]+]] = "stablehlo.constant"() <{value = dense<2.000000e+00>
// CHECK-NEXT: %[[TWOS:[0-9]+]] = "stablehlo.broadcast_in_dim"(%[[TWO]])
// CHECK-NEXT: %[[D:[0-9]+]] = "stablehlo.divide"(%arg1, %[[TWOS]])
// CHECK-NEXT: %[[E:[0-9]+]] = "stablehlo.exponential"(%[[D]])
// CHECK-NEXT: "stablehlo.while"
// CHECK:        "stablehlo.broadcast_in_dim"
// CHECK-NEXT:   %[[Y:[0-9]+]] = "stablehlo.multiply"(%{{.*}}, %[[E]])
// CHECK-NEXT:   "stablehlo.add"(%[[Y]]
  %r0:3 = stablehlo.while(%i = %zero, %s = %x, %u = %w) : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %b = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f32>) -> tensor<1000xf32>
    %d = stablehlo.divide %u, %b : tensor<1000xf32>
    %e = stablehlo.exponential %d : tensor<1000xf32>
    %y = stablehlo.multiply %s, %e : tensor<1000xf32>
    %z = stablehlo.add %y, %b : tensor<1000xf32>
    stablehlo.return %j, %z, %u : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>
  }

// What is captured; a product; what a condition reads.
// CHECK:      %[[M:[0-9]+]] = "stablehlo.reduce"(%arg1
// CHECK:      %[[P:[0-9]+]] = "stablehlo.dot_general"(%arg2, %arg2)
// CHECK:      "stablehlo.while"
// CHECK:        "stablehlo.compare"(%{{.*}}, %[[M]])
// CHECK:        "stablehlo.add"(%{{.*}}, %[[P]])
  %f0 = stablehlo.constant dense<0.0> : tensor<f32>
  %r1:2 = stablehlo.while(%i = %f0, %s = %a) : tensor<f32>, tensor<20x20xf32>
  cond {
    %low = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%w init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    %c = stablehlo.compare LT, %i, %m : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %j = stablehlo.add %i, %one : tensor<f32>
    %p = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<20x20xf32>, tensor<20x20xf32>) -> tensor<20x20xf32>
    %t = stablehlo.add %s, %p : tensor<20x20xf32>
    stablehlo.return %j, %t : tensor<f32>, tensor<20x20xf32>
  }

// Loops in loops: as far out as it goes.
// CHECK:      %[[OUT:[0-9]+]] = "stablehlo.exponential"(%arg1)
// CHECK:      "stablehlo.while"
// CHECK:      }, {
// CHECK:        ^bb0(%{{.*}}, %[[S:arg[0-9]+]]: tensor<1000xf32>):
// CHECK:        %[[IN:[0-9]+]] = "stablehlo.sine"(%[[S]])
// CHECK:        "stablehlo.while"
// CHECK:          "stablehlo.multiply"(%{{.*}}, %[[OUT]])
// CHECK-NEXT:     "stablehlo.multiply"(%{{.*}}, %[[IN]])
  %r2:3 = stablehlo.while(%i = %zero, %s = %x, %u = %w) : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
  %q:4 = stablehlo.while(%i2 = %zero, %t = %s, %v = %s, %g = %u) : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
  cond {
    %n2 = stablehlo.constant dense<50> : tensor<i32>
    %c2 = stablehlo.compare LT, %i2, %n2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c2 : tensor<i1>
  } do {
    %one2 = stablehlo.constant dense<1> : tensor<i32>
    %j2 = stablehlo.add %i2, %one2 : tensor<i32>
    %h = stablehlo.exponential %g : tensor<1000xf32>
    %k = stablehlo.sine %v : tensor<1000xf32>
    %l = stablehlo.multiply %t, %h : tensor<1000xf32>
    %o = stablehlo.multiply %l, %k : tensor<1000xf32>
    stablehlo.return %j2, %o, %v, %g : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>
  }
    stablehlo.return %j, %q#1, %u : tensor<i32>, tensor<1000xf32>, tensor<1000xf32>
  }

// Factors of matrices, as LAPACK has them.
// CHECK:      %[[L:[0-9]+]]:2 = "stablehlo.custom_call"(%arg2) {{.*}}lapack_spotrf_ffi
// CHECK:      "stablehlo.while"
// CHECK:        "stablehlo.add"(%{{.*}}, %[[L]]#0)
  %r3:2 = stablehlo.while(%i = %zero, %s = %a) : tensor<i32>, tensor<20x20xf32>
  cond {
    %n = stablehlo.constant dense<50> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %l:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {api_version = 4 : i32, backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<20x20xf32>) -> (tensor<20x20xf32>, tensor<i32>)
    %t = stablehlo.add %s, %l#0 : tensor<20x20xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<20x20xf32>
  }
  %r4 = stablehlo.add %r1#1, %r3#1 : tensor<20x20xf32>
  return %r0#1, %r2#1, %r4 : tensor<1000xf32>, tensor<1000xf32>, tensor<20x20xf32>
}
