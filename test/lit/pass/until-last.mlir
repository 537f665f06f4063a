// Whiles that run all rows until the last is done count their trips first: once, by flags that stay
// set and by floats that only fall; until the count does not change, where floats may rise and flags
// may come back. Rows are asked by the condition, or by the body for it; whether any goes on, or
// whether not all are done. Where rows freeze, trips are counted if their number is asked for, which
// a loop without rows then tells, or if something is written on for rows that are done. Not: rows
// that others are added to, whiles whose rows freeze and of which nothing else is asked for, a key
// that depends on rows, an answer that something else reads.
// RUN: %weir opt %s --pass=until-last,dce | FileCheck %s

// CHECK: sym_name = "flags"
// CHECK: %[[C:[0-9]+]]:4 = "stablehlo.while"
// CHECK: "stablehlo.select"
// CHECK: "stablehlo.reduce"(%[[C]]#2
// CHECK: stablehlo.maximum
// CHECK: %[[R:[0-9]+]]:{{[0-9]+}} = "stablehlo.while"
// CHECK: direction LT
// CHECK-NOT: "stablehlo.while"
// CHECK: "func.return"(%[[R]]#0)
func.func public @flags(%x: tensor<8xf32>, %d: tensor<8xi1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%a = %x, %b = %d) : tensor<8xf32>, tensor<8xi1>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %n = stablehlo.not %b : tensor<8xi1>
    %v = stablehlo.reduce(%n init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %y = stablehlo.cosine %a : tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %e = stablehlo.or %b, %c : tensor<8xi1>
    stablehlo.return %y, %e : tensor<8xf32>, tensor<8xi1>
  }
  return %r#0 : tensor<8xf32>
}

// CHECK: sym_name = "falls"
// CHECK-COUNT-2: "stablehlo.while"
// CHECK: sym_name = "rises"
// CHECK: %[[T:[0-9]+]]:3 = "stablehlo.while"
// CHECK: direction LT
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.shift_left"
// CHECK: stablehlo.and
// CHECK: stablehlo.maximum
// CHECK: "stablehlo.while"({{.*}}, %[[T]]#2)
// CHECK: sym_name = "goes"
func.func public @falls(%x: tensor<8xf32>, %k: tensor<8xui32>) -> tensor<8xf32> {
  %r = stablehlo.while(%a = %x) : tensor<8xf32>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %n = stablehlo.compare GT, %a, %x, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %v = stablehlo.reduce(%n init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %nine = stablehlo.constant dense<9> : tensor<8xui32>
    %exponent = stablehlo.constant dense<1065353216> : tensor<8xui32>
    %one = stablehlo.constant dense<1.0> : tensor<8xf32>
    %b = stablehlo.shift_right_logical %k, %nine : tensor<8xui32>
    %c = stablehlo.or %b, %exponent : tensor<8xui32>
    %f = stablehlo.bitcast_convert %c : (tensor<8xui32>) -> tensor<8xf32>
    %u = stablehlo.subtract %f, %one : tensor<8xf32>
    %l = stablehlo.log %u : tensor<8xf32>
    %y = stablehlo.add %a, %l : tensor<8xf32>
    stablehlo.return %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

func.func public @rises(%x: tensor<8xf32>, %k: tensor<8xui32>) -> tensor<8xf32> {
  %r = stablehlo.while(%a = %x) : tensor<8xf32>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %n = stablehlo.compare GT, %a, %x, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %v = stablehlo.reduce(%n init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %nine = stablehlo.constant dense<9> : tensor<8xui32>
    %exponent = stablehlo.constant dense<1065353216> : tensor<8xui32>
    %b = stablehlo.shift_right_logical %k, %nine : tensor<8xui32>
    %c = stablehlo.or %b, %exponent : tensor<8xui32>
    %u = stablehlo.bitcast_convert %c : (tensor<8xui32>) -> tensor<8xf32>
    %l = stablehlo.log %u : tensor<8xf32>
    %y = stablehlo.add %a, %l : tensor<8xf32>
    stablehlo.return %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// CHECK-COUNT-3: "stablehlo.while"
// CHECK: sym_name = "handed"
func.func public @goes(%x: tensor<8xf32>, %d: tensor<8xi1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%a = %x, %b = %d) : tensor<8xf32>, tensor<8xi1>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %v = stablehlo.reduce(%b init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %y = stablehlo.cosine %a : tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %e = stablehlo.or %b, %c : tensor<8xi1>
    stablehlo.return %y, %e : tensor<8xf32>, tensor<8xi1>
  }
  return %r#0 : tensor<8xf32>
}

// CHECK-COUNT-3: "stablehlo.while"
// CHECK: sym_name = "answer"
func.func public @handed(%x: tensor<8xf32>, %d: tensor<i1>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%a = %x, %go = %d, %i = %zero) : tensor<8xf32>, tensor<i1>, tensor<i32>
  cond {
    %most = stablehlo.constant dense<9> : tensor<i32>
    %early = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %early, %go : tensor<i1>
    stablehlo.return %both : tensor<i1>
  } do {
    %true = stablehlo.constant dense<true> : tensor<i1>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.cosine %a : tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %v = stablehlo.reduce(%c init: %true) applies stablehlo.and across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    %n = stablehlo.not %v : tensor<i1>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %y, %n, %j : tensor<8xf32>, tensor<i1>, tensor<i32>
  }
  return %r#0 : tensor<8xf32>
}

// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: sym_name = "told"
func.func public @answer(%x: tensor<8xf32>, %d: tensor<i1>) -> tensor<i1> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%a = %x, %go = %d, %i = %zero) : tensor<8xf32>, tensor<i1>, tensor<i32>
  cond {
    %most = stablehlo.constant dense<9> : tensor<i32>
    %early = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %early, %go : tensor<i1>
    stablehlo.return %both : tensor<i1>
  } do {
    %true = stablehlo.constant dense<true> : tensor<i1>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.cosine %a : tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %v = stablehlo.reduce(%c init: %true) applies stablehlo.and across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    %n = stablehlo.not %v : tensor<i1>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %y, %n, %j : tensor<8xf32>, tensor<i1>, tensor<i32>
  }
  return %r#1 : tensor<i1>
}

// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: sym_name = "meets"
func.func public @told(%x: tensor<8xf32>, %d: tensor<i1>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%a = %x, %go = %d, %i = %zero) : tensor<8xf32>, tensor<i1>, tensor<i32>
  cond {
    %most = stablehlo.constant dense<9> : tensor<i32>
    %early = stablehlo.compare LT, %i, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %early, %go : tensor<i1>
    stablehlo.return %both : tensor<i1>
  } do {
    %true = stablehlo.constant dense<true> : tensor<i1>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %y = stablehlo.cosine %a : tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %v = stablehlo.reduce(%c init: %true) applies stablehlo.and across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    %n = stablehlo.not %v : tensor<i1>
    %w = stablehlo.select %v, %one, %i : tensor<i1>, tensor<i32>
    %j = stablehlo.add %i, %w : tensor<i32>
    stablehlo.return %y, %n, %j : tensor<8xf32>, tensor<i1>, tensor<i32>
  }
  return %r#0 : tensor<8xf32>
}

// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: sym_name = "frozen"
func.func public @meets(%x: tensor<8xf32>, %d: tensor<8xi1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%a = %x, %b = %d) : tensor<8xf32>, tensor<8xi1>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %v = stablehlo.reduce(%b init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %y = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %e = stablehlo.and %b, %c : tensor<8xi1>
    stablehlo.return %y, %e : tensor<8xf32>, tensor<8xi1>
  }
  return %r#0 : tensor<8xf32>
}

// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: sym_name = "key"
func.func public @frozen(%x: tensor<8xf32>, %d: tensor<8xi1>) -> tensor<8xf32> {
  %r:2 = stablehlo.while(%a = %x, %b = %d) : tensor<8xf32>, tensor<8xi1>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %v = stablehlo.reduce(%b init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %y = stablehlo.cosine %a : tensor<8xf32>
    %z = stablehlo.select %b, %y, %a : tensor<8xi1>, tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %e = stablehlo.and %b, %c : tensor<8xi1>
    stablehlo.return %z, %e : tensor<8xf32>, tensor<8xi1>
  }
  return %r#0 : tensor<8xf32>
}

// CHECK-COUNT-1: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
// CHECK: sym_name = "asked"
func.func public @key(%x: tensor<8xf32>, %d: tensor<8xi1>, %s: tensor<f32>) -> tensor<8xf32> {
  %r:3 = stablehlo.while(%a = %x, %b = %d, %k = %s) : tensor<8xf32>, tensor<8xi1>, tensor<f32>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %v = stablehlo.reduce(%b init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.broadcast_in_dim %k, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %y = stablehlo.add %a, %w : tensor<8xf32>
    %t = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %e = stablehlo.and %b, %c : tensor<8xi1>
    stablehlo.return %y, %e, %t : tensor<8xf32>, tensor<8xi1>, tensor<f32>
  }
  return %r#0 : tensor<8xf32>
}

// CHECK: %[[C:[0-9]+]]:4 = "stablehlo.while"
// CHECK: "stablehlo.select"
// CHECK: %[[MAX:[0-9]+]] = "stablehlo.reduce"(%[[C]]#3
// CHECK: %[[R:[0-9]+]]:4 = "stablehlo.while"({{.*}}, %[[MAX]])
// CHECK: direction LT
// CHECK: %[[T:[0-9]+]]:3 = "stablehlo.while"({{.*}}, %[[MAX]])
// CHECK: ^bb0({{[^:]*}}: tensor<i32>, {{[^:]*}}: tensor<i32>, {{[^:]*}}: tensor<i32>):
// CHECK: "func.return"(%[[R]]#0, %[[T]]#0)
// CHECK: sym_name = "written"
func.func public @asked(%x: tensor<8xf32>, %d: tensor<8xi1>) -> (tensor<8xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%a = %x, %b = %d, %k = %zero) : tensor<8xf32>, tensor<8xi1>, tensor<i32>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %v = stablehlo.reduce(%b init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %y = stablehlo.cosine %a : tensor<8xf32>
    %z = stablehlo.select %b, %y, %a : tensor<8xi1>, tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %e = stablehlo.and %b, %c : tensor<8xi1>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %m = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %z, %e, %m : tensor<8xf32>, tensor<8xi1>, tensor<i32>
  }
  return %r#0, %r#2 : tensor<8xf32>, tensor<i32>
}

// CHECK-COUNT-2: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
func.func public @written(%x: tensor<8xf32>, %d: tensor<8xi1>) -> tensor<8xf32> {
  %r:3 = stablehlo.while(%a = %x, %b = %d, %k = %x) : tensor<8xf32>, tensor<8xi1>, tensor<8xf32>
  cond {
    %false = stablehlo.constant dense<false> : tensor<i1>
    %v = stablehlo.reduce(%b init: %false) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %v : tensor<i1>
  } do {
    %y = stablehlo.cosine %a : tensor<8xf32>
    %z = stablehlo.select %b, %y, %a : tensor<8xi1>, tensor<8xf32>
    %c = stablehlo.compare LT, %y, %a, FLOAT : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %e = stablehlo.and %b, %c : tensor<8xi1>
    %m = stablehlo.add %k, %z : tensor<8xf32>
    stablehlo.return %z, %e, %m : tensor<8xf32>, tensor<8xi1>, tensor<8xf32>
  }
  return %r#2 : tensor<8xf32>
}
