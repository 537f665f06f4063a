// Single elements of a long sort by counting: three counts a trip, two bits of the element each.
// RUN: %weir opt %s --pass=quantile,dce | FileCheck %s
// RUN: %weir opt %s --pass=quantile,dce --skip=quantile | FileCheck %s --check-prefix=SKIP
// SKIP-COUNT-6: "stablehlo.sort"

module {
  // The place is known: 700. 16 trips for 32 bits; candidates above +inf are NaNs.
  // CHECK: sym_name = "ascending"
  // CHECK-DAG: dense<700> : tensor<i32>
  // CHECK-DAG: %[[N:.*]] = "stablehlo.reduce"
  // CHECK: "stablehlo.while"
  // CHECK: dense<16> : tensor<i32>
  // CHECK-COUNT-3: "stablehlo.reduce"
  // CHECK-NOT: "stablehlo.sort"
  func.func public @ascending(%x: tensor<2048xf32>) -> tensor<1xf32> {
    %s = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %0 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %nan, %a : tensor<i1>, tensor<f32>
      %2 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.select %2, %nan, %b : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare LT, %1, %3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }) : (tensor<2048xf32>) -> tensor<2048xf32>
    %r = stablehlo.slice %s [700:701] : (tensor<2048xf32>) -> tensor<1xf32>
    return %r : tensor<1xf32>
  }

  // Place 700 from above is 1347 from below; integers need no guard and have no NaNs.
  // CHECK: sym_name = "descending"
  // CHECK: dense<2047> : tensor<i32>
  // CHECK: "stablehlo.subtract"
  // CHECK: "stablehlo.while"
  // CHECK-NOT: "stablehlo.sort"
  func.func private @descending(%x: tensor<2048xi64>) -> tensor<1xi64> {
    %s = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = false}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %0 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }) : (tensor<2048xi64>) -> tensor<2048xi64>
    %r = stablehlo.slice %s [700:701] : (tensor<2048xi64>) -> tensor<1xi64>
    return %r : tensor<1xi64>
  }

  // What was flattened is counted as it was.
  // CHECK: sym_name = "flattened"
  // CHECK: "stablehlo.while"
  // CHECK: "stablehlo.compare"({{.*}}tensor<32x64xi32>
  // CHECK: "stablehlo.reduce"({{.*}}) <{dimensions = array<i64: 0, 1>}>
  // CHECK-NOT: "stablehlo.sort"
  func.func private @flattened(%x: tensor<32x64xi32>) -> tensor<1xi32> {
    %f = stablehlo.reshape %x : (tensor<32x64xi32>) -> tensor<2048xi32>
    %n = stablehlo.negate %f : tensor<2048xi32>
    %s = "stablehlo.sort"(%n) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }) : (tensor<2048xi32>) -> tensor<2048xi32>
    %r = stablehlo.slice %s [700:701] : (tensor<2048xi32>) -> tensor<1xi32>
    return %r : tensor<1xi32>
  }

  // NaNs of either sign are where they are; floats compared as floats; NaNs made one that is negative and comes first.
  // CHECK: sym_name = "left_alone"
  // CHECK-COUNT-3: "stablehlo.sort"
  // CHECK-NOT: "stablehlo.while"
  func.func private @left_alone(%x: tensor<2048xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
    %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }) : (tensor<2048xf32>) -> tensor<2048xf32>
    %t = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    }) : (tensor<2048xf32>) -> tensor<2048xf32>
    %u = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %nan = stablehlo.constant dense<0xFFC00000> : tensor<f32>
      %0 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %1 = stablehlo.select %0, %nan, %a : tensor<i1>, tensor<f32>
      %2 = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.select %2, %nan, %b : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare LT, %1, %3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    }) : (tensor<2048xf32>) -> tensor<2048xf32>
    %r = stablehlo.slice %s [700:701] : (tensor<2048xf32>) -> tensor<1xf32>
    %q = stablehlo.slice %t [700:701] : (tensor<2048xf32>) -> tensor<1xf32>
    %p = stablehlo.slice %u [700:701] : (tensor<2048xf32>) -> tensor<1xf32>
    return %r, %q, %p : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
  }
}
