// RUN: %weir opt %s --pass=blocks,dce | FileCheck %s

// A suffix sum of what a prefix sum is made into: both in 10 blocks of 10.
// CHECK-LABEL: sym_name = "both_ways"
// CHECK: %[[X:.*]] = "stablehlo.reshape"(%arg0) : (tensor<100xf32>) -> tensor<10x10xf32>
// CHECK: %[[T:.*]] = "stablehlo.reduce"(%[[X]], %{{.*}}) <{dimensions = array<i64: 1>}>
// CHECK: "stablehlo.slice"(%[[T]]) {{.*}} -> tensor<9xf32>
// CHECK: "stablehlo.pad"({{.*}} edge_padding_low = array<i64: 1>
// CHECK: "stablehlo.reduce_window"({{.*}}padding = dense<[[9, 0]]>
// CHECK: "stablehlo.reduce_window"(%[[X]]{{.*}}padding = dense<[[0, 0], [9, 0]]>
// CHECK: %[[C:.*]] = "stablehlo.cosine"
// CHECK: %[[Y:.*]] = "stablehlo.reshape"(%[[C]]) : (tensor<100xf32>) -> tensor<10x10xf32>
// CHECK: "stablehlo.reduce_window"({{.*}}padding = dense<[[0, 9]]>
// CHECK: "stablehlo.reduce_window"(%[[Y]]{{.*}}padding = dense<[[0, 0], [0, 9]]>
func.func @both_ways(%x: tensor<100xf32>) -> tensor<100xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[99, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 100>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>
  %f = stablehlo.cosine %s : tensor<100xf32>
  %g = "stablehlo.reduce_window"(%f, %zero) <{padding = dense<[[0, 99]]> : tensor<1x2xi64>, window_dimensions = array<i64: 100>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>
  return %g : tensor<100xf32>
}

// One after the other in the same direction: a loop carries both.
// CHECK-LABEL: sym_name = "one_way"
// CHECK-NOT: "stablehlo.reshape"
func.func @one_way(%x: tensor<100xf32>) -> tensor<100xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[99, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 100>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>
  %f = stablehlo.cosine %s : tensor<100xf32>
  %g = "stablehlo.reduce_window"(%f, %zero) <{padding = dense<[[99, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 100>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>
  return %g : tensor<100xf32>
}

// Two blocks of two; three elements would be one block.
// CHECK-LABEL: sym_name = "four"
// CHECK: "stablehlo.reshape"(%arg0) : (tensor<4xf32>) -> tensor<2x2xf32>
func.func @four(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[3, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f = stablehlo.cosine %s : tensor<4xf32>
  %g = "stablehlo.reduce_window"(%f, %zero) <{padding = dense<[[0, 3]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}

// CHECK-LABEL: sym_name = "three"
// CHECK-NOT: "stablehlo.reshape"
func.func @three(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[2, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %f = stablehlo.cosine %s : tensor<3xf32>
  %g = "stablehlo.reduce_window"(%f, %zero) <{padding = dense<[[0, 2]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %g : tensor<3xf32>
}
