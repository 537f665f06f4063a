// Which values of a sort are those of the top_k, and which have to be gathered: zeros tie in the
// order, whatever their sign, so a value that may be -0 is not known from its place.
// RUN: %weir opt %s --pass=topk,cse,dce | FileCheck %s

module {
  // Square: is never negative.
  // CHECK: sym_name = "square"
  // CHECK: "chlo.top_k"
  // CHECK-NOT: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @square(%x: tensor<40xf32>) -> tensor<3xf32> {
    %k = stablehlo.multiply %x, %x : tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Product: of two may be negative.
  // CHECK: sym_name = "product"
  // CHECK: "chlo.top_k"
  // CHECK: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @product(%x: tensor<40xf32>, %y: tensor<40xf32>) -> tensor<3xf32> {
    %k = stablehlo.multiply %x, %y : tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Product of squares: is never negative.
  // CHECK: sym_name = "product_of_squares"
  // CHECK: "chlo.top_k"
  // CHECK-NOT: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @product_of_squares(%x: tensor<40xf32>, %y: tensor<40xf32>) -> tensor<3xf32> {
    %p = stablehlo.multiply %x, %x : tensor<40xf32>
    %q = stablehlo.abs %y : tensor<40xf32>
    %k = stablehlo.multiply %p, %q : tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Widened: keeps its sign.
  // CHECK: sym_name = "widened"
  // CHECK: "chlo.top_k"
  // CHECK-NOT: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @widened(%x: tensor<40xf16>) -> tensor<3xf32> {
    %p = stablehlo.abs %x : tensor<40xf16>
    %k = stablehlo.convert %p : (tensor<40xf16>) -> tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Of integers: may be negative.
  // CHECK: sym_name = "of_integers"
  // CHECK: "chlo.top_k"
  // CHECK: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @of_integers(%x: tensor<40xi32>) -> tensor<3xf32> {
    %k = stablehlo.convert %x : (tensor<40xi32>) -> tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Chosen: has the sign of both, whatever chooses.
  // CHECK: sym_name = "chosen"
  // CHECK: "chlo.top_k"
  // CHECK-NOT: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @chosen(%p: tensor<40xi1>, %x: tensor<40xf32>, %y: tensor<40xf32>) -> tensor<3xf32> {
    %q = stablehlo.exponential %x : tensor<40xf32>
    %r = stablehlo.abs %y : tensor<40xf32>
    %k = stablehlo.select %p, %q, %r : tensor<40xi1>, tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Chosen or not: has the sign of both.
  // CHECK: sym_name = "chosen_or_not"
  // CHECK: "chlo.top_k"
  // CHECK: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @chosen_or_not(%p: tensor<40xi1>, %x: tensor<40xf32>) -> tensor<3xf32> {
    %q = stablehlo.exponential %x : tensor<40xf32>
    %k = stablehlo.select %p, %q, %x : tensor<40xi1>, tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Shifted: by what is positive stays so.
  // CHECK: sym_name = "shifted"
  // CHECK: "chlo.top_k"
  // CHECK-NOT: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @shifted(%x: tensor<40xf32>) -> tensor<3xf32> {
    %q = stablehlo.abs %x : tensor<40xf32>
    %c = stablehlo.constant dense<1.5> : tensor<40xf32>
    %k = stablehlo.add %q, %c : tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

  // Shifted down: may be negative.
  // CHECK: sym_name = "shifted_down"
  // CHECK: "chlo.top_k"
  // CHECK: "stablehlo.gather"
  // CHECK: "func.return"
  func.func public @shifted_down(%x: tensor<40xf32>) -> tensor<3xf32> {
    %q = stablehlo.abs %x : tensor<40xf32>
    %c = stablehlo.constant dense<-1.5> : tensor<40xf32>
    %k = stablehlo.add %q, %c : tensor<40xf32>
    %s = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %za = stablehlo.compare EQ, %a, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ca = stablehlo.select %za, %zero, %a : tensor<i1>, tensor<f32>
      %na = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %ka = stablehlo.select %na, %nan, %ca : tensor<i1>, tensor<f32>
      %zb = stablehlo.compare EQ, %b, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cb = stablehlo.select %zb, %zero, %b : tensor<i1>, tensor<f32>
      %nb = stablehlo.compare NE, %b, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %kb = stablehlo.select %nb, %nan, %cb : tensor<i1>, tensor<f32>
      %lt = stablehlo.compare LT, %ka, %kb, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<40xf32>) -> tensor<40xf32>
    %r0 = stablehlo.slice %s [0:3] : (tensor<40xf32>) -> tensor<3xf32>
    return %r0 : tensor<3xf32>
  }

}
