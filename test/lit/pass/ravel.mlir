// Reductions of all that was flattened or sorted, before it is.
// RUN: %weir opt %s --pass=ravel,dce | FileCheck %s
// RUN: %weir opt %s --pass=ravel,dce --skip=ravel | FileCheck %s --check-prefix=SKIP
// SKIP: tensor<12xf32>

module {
  // Through elementwise ops; what is not the flattened one gets its shape; one element is broadcast.
  // CHECK: sym_name = "all"
  // CHECK: ^bb0(%[[X:.*]]: tensor<3x4xf32>, %[[Y:.*]]: tensor<12xf32>, %[[P:.*]]: tensor<1xi1>)
  // CHECK: %[[Q:.*]] = "stablehlo.reshape"(%[[P]]) : (tensor<1xi1>) -> tensor<i1>
  // CHECK: %[[B:.*]] = "stablehlo.broadcast_in_dim"(%[[Q]]) {{.*}} -> tensor<3x4xi1>
  // CHECK: %[[Z:.*]] = "stablehlo.reshape"(%[[Y]]) : (tensor<12xf32>) -> tensor<3x4xf32>
  // CHECK: %[[S:.*]] = "stablehlo.select"(%[[B]], %[[Z]], %[[X]])
  // CHECK: %[[E:.*]] = "stablehlo.exponential"(%[[S]])
  // CHECK: "stablehlo.reduce"(%[[E]], {{.*}}) <{dimensions = array<i64: 0, 1>}>
  func.func public @all(%x: tensor<3x4xf32>, %y: tensor<12xf32>, %p: tensor<1xi1>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %f = stablehlo.reshape %x : (tensor<3x4xf32>) -> tensor<12xf32>
    %b = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<1xi1>) -> tensor<12xi1>
    %s = stablehlo.select %b, %y, %f : tensor<12xi1>, tensor<12xf32>
    %e = stablehlo.exponential %s : tensor<12xf32>
    %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
    return %r : tensor<f32>
  }

  // In any order; not where another array is read in this one.
  // CHECK: sym_name = "sorted"
  // CHECK: ^bb0(%[[X:.*]]: tensor<12xf32>, %[[Y:.*]]: tensor<12xf32>)
  // CHECK: %[[S:.*]] = "stablehlo.sort"(%[[X]])
  // CHECK: %[[E:.*]] = "stablehlo.exponential"(%[[X]])
  // CHECK: "stablehlo.reduce"(%[[E]],
  // CHECK: %[[P:.*]] = "stablehlo.multiply"(%[[S]], %[[Y]])
  // CHECK: "stablehlo.reduce"(%[[P]],
  func.func private @sorted(%x: tensor<12xf32>, %y: tensor<12xf32>) -> (tensor<f32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }) : (tensor<12xf32>) -> tensor<12xf32>
    %e = stablehlo.exponential %s : tensor<12xf32>
    %r = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
    %p = stablehlo.multiply %s, %y : tensor<12xf32>
    %t = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
    return %r, %t : tensor<f32>, tensor<f32>
  }

  // Some dimensions; nothing was flattened; a reshape to more dimensions.
  // CHECK: sym_name = "left_alone"
  // CHECK: "stablehlo.reshape"{{.*}} -> tensor<12x2xf32>
  // CHECK: (tensor<12x2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: "stablehlo.reshape"{{.*}} -> tensor<3x4xf32>
  // CHECK: (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
  func.func private @left_alone(%x: tensor<3x4x2xf32>, %y: tensor<12xf32>) -> (tensor<2xf32>, tensor<f32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %f = stablehlo.reshape %x : (tensor<3x4x2xf32>) -> tensor<12x2xf32>
    %r = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12x2xf32>, tensor<f32>) -> tensor<2xf32>
    %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
    %m = stablehlo.reshape %y : (tensor<12xf32>) -> tensor<3x4xf32>
    %t = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    return %r, %s, %t : tensor<2xf32>, tensor<f32>, tensor<f32>
  }
}
