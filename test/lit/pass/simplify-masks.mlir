// Products with masks select, where XLA's do (jaxlib 0.10.2), and nowhere else.
// RUN: %weir opt %s --pass=simplify,dce | FileCheck %s

module {
  // CHECK: sym_name = "either_side"
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<4xi1>)
  // CHECK-NOT: multiply
  // CHECK: "stablehlo.select"(%[[P]], %[[X]], %{{.*}})
  // CHECK: "stablehlo.select"(%[[P]], %[[X]], %{{.*}})
  // CHECK-NEXT: "func.return"
  func.func public @either_side(%x: tensor<4xf32>, %p: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %m = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
    %0 = stablehlo.multiply %x, %m : tensor<4xf32>
    %1 = stablehlo.multiply %m, %x : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }

  // CHECK: sym_name = "other_types"
  // CHECK-NOT: multiply
  // CHECK: "stablehlo.select"
  // CHECK: "stablehlo.select"
  // CHECK: "stablehlo.select"
  // CHECK-NEXT: "func.return"
  func.func public @other_types(%h: tensor<4xf16>, %d: tensor<4xf64>, %c: tensor<4xcomplex<f32>>, %p: tensor<4xi1>) -> (tensor<4xf16>, tensor<4xf64>, tensor<4xcomplex<f32>>) {
    %mh = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf16>
    %md = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf64>
    %mc = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xcomplex<f32>>
    %0 = stablehlo.multiply %h, %mh : tensor<4xf16>
    %1 = stablehlo.multiply %d, %md : tensor<4xf64>
    %2 = stablehlo.multiply %c, %mc : tensor<4xcomplex<f32>>
    return %0, %1, %2 : tensor<4xf16>, tensor<4xf64>, tensor<4xcomplex<f32>>
  }

  // Dimensions of size 1, before or after.
  // CHECK: sym_name = "ones"
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<1x4xf32>, %[[P:.*]]: tensor<4xi1>)
  // CHECK-NOT: multiply
  // CHECK: %[[Q:.*]] = "stablehlo.broadcast_in_dim"(%[[P]]){{.*}}tensor<1x4xi1>
  // CHECK: "stablehlo.select"(%[[Q]], %[[X]], %{{.*}})
  // CHECK: %[[Q2:.*]] = "stablehlo.broadcast_in_dim"(%[[P]]){{.*}}tensor<1x4xi1>
  // CHECK: "stablehlo.select"(%[[Q2]], %[[X]], %{{.*}})
  // CHECK-NEXT: "func.return"
  func.func public @ones(%x: tensor<1x4xf32>, %p: tensor<4xi1>) -> (tensor<1x4xf32>, tensor<1x4xf32>) {
    %q = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<4xi1>) -> tensor<1x4xi1>
    %m = stablehlo.convert %q : (tensor<1x4xi1>) -> tensor<1x4xf32>
    %0 = stablehlo.multiply %x, %m : tensor<1x4xf32>
    %n = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
    %o = stablehlo.broadcast_in_dim %n, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %1 = stablehlo.multiply %x, %o : tensor<1x4xf32>
    return %0, %1 : tensor<1x4xf32>, tensor<1x4xf32>
  }

  // CHECK: sym_name = "dot"
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<3x4xf32>, %[[P:.*]]: tensor<3x4xi1>)
  // CHECK-DAG: %[[M:.*]] = "stablehlo.convert"(%[[P]])
  // CHECK-DAG: %[[S:.*]] = "stablehlo.select"(%[[P]], %[[X]], %{{.*}})
  // CHECK: "stablehlo.dot_general"(%[[S]], %[[M]])
  // CHECK-NOT: "stablehlo.select"
  // CHECK: "func.return"
  func.func public @dot(%x: tensor<3x4xf32>, %p: tensor<3x4xi1>) -> tensor<3xf32> {
    %m = stablehlo.convert %p : (tensor<3x4xi1>) -> tensor<3x4xf32>
    %0 = stablehlo.dot_general %x, %m, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }

  // bf16; whole numbers; masks by way of i32, bf16 or a choice; ones that are repeated.
  // CHECK: sym_name = "multiplied"
  // CHECK-COUNT-7: "stablehlo.multiply"
  // CHECK-NEXT: "func.return"
  func.func public @multiplied(%b: tensor<4xbf16>, %i: tensor<4xi32>, %x: tensor<4xf32>, %y: tensor<4x4xf32>, %p: tensor<4xi1>) -> (tensor<4xbf16>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
    %mb = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xbf16>
    %mi = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xi32>
    %m = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
    %by_int = stablehlo.convert %mi : (tensor<4xi32>) -> tensor<4xf32>
    %by_bf16 = stablehlo.convert %mb : (tensor<4xbf16>) -> tensor<4xf32>
    %chosen = stablehlo.select %p, %one, %zero : tensor<4xi1>, tensor<4xf32>
    %q = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<4xi1>) -> tensor<4x4xi1>
    %mq = stablehlo.convert %q : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %qm = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %0 = stablehlo.multiply %b, %mb : tensor<4xbf16>
    %1 = stablehlo.multiply %i, %mi : tensor<4xi32>
    %2 = stablehlo.multiply %x, %by_int : tensor<4xf32>
    %3 = stablehlo.multiply %x, %by_bf16 : tensor<4xf32>
    %4 = stablehlo.multiply %x, %chosen : tensor<4xf32>
    %5 = stablehlo.multiply %y, %mq : tensor<4x4xf32>
    %6 = stablehlo.multiply %y, %qm : tensor<4x4xf32>
    return %0, %1, %2, %3, %4, %5, %6 : tensor<4xbf16>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  }

  // Products of f16, ones that keep a dimension of one side, and ones of other dimensions.
  // CHECK: sym_name = "dots_alone"
  // CHECK-NOT: "stablehlo.select"
  // CHECK: "func.return"
  func.func public @dots_alone(%h: tensor<4xf16>, %y: tensor<4x4xf32>, %p: tensor<4xi1>, %q: tensor<4x4xi1>) -> (tensor<f16>, tensor<4xf32>, tensor<4xf32>) {
    %mh = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf16>
    %m = stablehlo.convert %p : (tensor<4xi1>) -> tensor<4xf32>
    %mq = stablehlo.convert %q : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %0 = stablehlo.dot_general %h, %mh, contracting_dims = [0] x [0] : (tensor<4xf16>, tensor<4xf16>) -> tensor<f16>
    %1 = stablehlo.dot_general %y, %m, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.dot_general %y, %mq, batching_dims = [0] x [1], contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    return %0, %1, %2 : tensor<f16>, tensor<4xf32>, tensor<4xf32>
  }
}
