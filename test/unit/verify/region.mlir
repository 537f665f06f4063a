// wanted: (reduce_c2)
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<f64>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>, tensor<f64>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (reduce_c3)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reduce"(%a) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (reduce_c4)
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (reduce_c5)
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 1, 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (reduce_c6)
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<2xf32>, %q: tensor<2xf32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
            "stablehlo.return"(%r) : (tensor<2xf32>) -> ()
          }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (reduce_c6)
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<f32>):
    
            "stablehlo.return"(%p) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (reduce_c7)
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (reduce_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>, %i: tensor<f32>) {
    %0:2 = "stablehlo.reduce"(%a, %b, %i, %i) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
    
            "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> ()
          })
              : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
    return
  }
}

// -----

// wanted: an initial value is tensor<1xf32>
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<1xf32>) {
    %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: stablehlo.reduce: 0 regions, wanted 1
module {
  func.func public @main(%a: tensor<2x3xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce"(%a, %i)
            <{dimensions = array<i64: 1>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (sort_c1)
module {
  func.func public @main() {
    "stablehlo.sort"() <{dimension = 0 : i64}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }) : () -> ()
    return
  }
}

// -----

// wanted: (sort_c2)
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }) : (tensor<3xf32>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (sort_c3)
module {
  func.func public @main(%a: tensor<3xf32>, %b: tensor<4xf32>) {
    %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }) : (tensor<3xf32>, tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>)
    return
  }
}

// -----

// wanted: (sort_c4)
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }) : (tensor<3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (sort_c5)
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
          ^bb0(%p: tensor<f64>, %q: tensor<f64>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f64>, tensor<f64>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }) : (tensor<3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (sort_c5)
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (map_c1)
module {
  func.func public @main(%a: tensor<3xf32>, %b: tensor<4xf32>) {
    %0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<3xf32>, tensor<4xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (map_c2)
module {
  func.func public @main() {
    %0 = "stablehlo.map"() <{dimensions = array<i64: 0>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : () -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (map_c3)
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "stablehlo.map"(%a, %a) <{dimensions = array<i64: 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (map_c4)
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "stablehlo.map"(%a, %a) <{dimensions = array<i64: 0>}> ({
          ^bb0(%p: tensor<f64>, %q: tensor<f64>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f64>, tensor<f64>) -> tensor<f64>
            "stablehlo.return"(%r) : (tensor<f64>) -> ()
          }) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (while_c1)
module {
  func.func public @main(%a: tensor<i32>, %t: tensor<i1>, %f: tensor<f32>) {
    %0 = "stablehlo.while"(%a) ({
          ^bb0(%x: tensor<f32>):
            "stablehlo.return"(%t) : (tensor<i1>) -> ()
          }, {
          ^bb0(%y: tensor<i32>):
            "stablehlo.return"(%y) : (tensor<i32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (while_c1)
module {
  func.func public @main(%a: tensor<i32>, %t: tensor<i1>, %f: tensor<f32>) {
    %0 = "stablehlo.while"(%a) ({
          ^bb0(%x: tensor<i32>):
            "stablehlo.return"(%x) : (tensor<i32>) -> ()
          }, {
          ^bb0(%y: tensor<i32>):
            "stablehlo.return"(%y) : (tensor<i32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (while_c2)
module {
  func.func public @main(%a: tensor<i32>, %t: tensor<i1>, %f: tensor<f32>) {
    %0 = "stablehlo.while"(%a) ({
          ^bb0(%x: tensor<i32>):
            "stablehlo.return"(%t) : (tensor<i1>) -> ()
          }, {
          ^bb0(%y: tensor<f32>):
            "stablehlo.return"(%y) : (tensor<f32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (while_c2)
module {
  func.func public @main(%a: tensor<i32>, %t: tensor<i1>, %f: tensor<f32>) {
    %0 = "stablehlo.while"(%a) ({
          ^bb0(%x: tensor<i32>):
            "stablehlo.return"(%t) : (tensor<i1>) -> ()
          }, {
          ^bb0(%y: tensor<i32>):
            "stablehlo.return"(%f) : (tensor<f32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (while_c3)
module {
  func.func public @main(%a: tensor<i32>, %t: tensor<i1>, %f: tensor<f32>) {
    %0 = "stablehlo.while"(%a) ({
          ^bb0(%x: tensor<i32>):
            "stablehlo.return"(%t) : (tensor<i1>) -> ()
          }, {
          ^bb0(%y: tensor<i32>):
            "stablehlo.return"(%y) : (tensor<i32>) -> ()
          }) : (tensor<i32>) -> tensor<f32>
    return
  }
}

// -----

// wanted: (case_c1)
module {
  func.func public @main(%a: tensor<i32>) {
    "stablehlo.case"(%a) : (tensor<i32>) -> ()
    return
  }
}

// -----

// wanted: (case_c2)
module {
  func.func public @main(%a: tensor<i32>) {
    %0 = "stablehlo.case"(%a) ({
          ^bb0(%x: tensor<i32>):
            "stablehlo.return"(%x) : (tensor<i32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (case_c4)
module {
  func.func public @main(%a: tensor<i32>, %f: tensor<f32>) {
    %0 = "stablehlo.case"(%a) ({
            "stablehlo.return"(%f) : (tensor<f32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: stablehlo.case: operand 0 is tensor<i64>
module {
  func.func public @main(%a: tensor<i64>) {
    %0 = "stablehlo.case"(%a) ({
            "stablehlo.return"(%a) : (tensor<i64>) -> ()
          }) : (tensor<i64>) -> tensor<i64>
    return
  }
}

// -----

// wanted: (if_c1)
module {
  func.func public @main(%a: tensor<i1>) {
    %0 = "stablehlo.if"(%a) ({
          ^bb0(%x: tensor<i1>):
            "stablehlo.return"(%x) : (tensor<i1>) -> ()
          }, {
            "stablehlo.return"(%a) : (tensor<i1>) -> ()
          }) : (tensor<i1>) -> tensor<i1>
    return
  }
}

// -----

// wanted: (if_c3)
module {
  func.func public @main(%a: tensor<i1>, %f: tensor<f32>) {
    %0 = "stablehlo.if"(%a) ({
            "stablehlo.return"(%a) : (tensor<i1>) -> ()
          }, {
            "stablehlo.return"(%f) : (tensor<f32>) -> ()
          }) : (tensor<i1>) -> tensor<i1>
    return
  }
}

// -----

// wanted: stablehlo.if: 1 regions, wanted 2
module {
  func.func public @main(%a: tensor<i1>) {
    %0 = "stablehlo.if"(%a) ({
            "stablehlo.return"(%a) : (tensor<i1>) -> ()
          }) : (tensor<i1>) -> tensor<i1>
    return
  }
}

// -----

// wanted: (optimization_barrier_c1)
module {
  func.func public @main(%a: tensor<i1>) {
    %0 = "stablehlo.optimization_barrier"(%a) : (tensor<i1>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (tuple_c1)
module {
  func.func public @main(%a: tensor<i1>) {
    %0 = "stablehlo.tuple"(%a) : (tensor<i1>) -> tuple<tensor<i32>>
    return
  }
}

// -----

// wanted: (get_tuple_element_c1)
module {
  func.func public @main(%a: tuple<tensor<i32>>) {
    %0 = "stablehlo.get_tuple_element"(%a) <{index = 1 : i32}> : (tuple<tensor<i32>>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (get_tuple_element_c2)
module {
  func.func public @main(%a: tuple<tensor<i32>>) {
    %0 = "stablehlo.get_tuple_element"(%a) <{index = 0 : i32}> : (tuple<tensor<i32>>) -> tensor<f32>
    return
  }
}

// -----

// wanted: there is no function @nobody
module {
  func.func public @main(%a: tensor<i32>) {
    %0 = "func.call"(%a) <{callee = @nobody}> : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: func.call: 2 operands for @callee, wanted 1
module {
  func.func public @main(%a: tensor<i32>) {
    %0 = "func.call"(%a, %a) <{callee = @callee}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
    return
  }
  func.func private @callee(%x: tensor<i32>) -> tensor<i32> {
    return %x : tensor<i32>
  }
}

// -----

// wanted: func.call: operand 0 is tensor<f32>, wanted tensor<i32>
module {
  func.func public @main(%a: tensor<f32>) {
    %0 = "func.call"(%a) <{callee = @callee}> : (tensor<f32>) -> tensor<i32>
    return
  }
  func.func private @callee(%x: tensor<i32>) -> tensor<i32> {
    return %x : tensor<i32>
  }
}

// -----

// wanted: func.call: result 0 is tensor<f32>, wanted tensor<i32>
module {
  func.func public @main(%a: tensor<i32>) {
    %0 = "func.call"(%a) <{callee = @callee}> : (tensor<i32>) -> tensor<f32>
    return
  }
  func.func private @callee(%x: tensor<i32>) -> tensor<i32> {
    return %x : tensor<i32>
  }
}

// -----

// wanted: (composite_c2)
module {
  func.func public @main(%a: tensor<i32>) {
    %0 = "stablehlo.composite"(%a)
            <{name = "x.y", decomposition = @nobody}> : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (composite_c3)
module {
  func.func public @main(%a: tensor<f32>) {
    %0 = "stablehlo.composite"(%a)
            <{name = "x.y", decomposition = @callee}> : (tensor<f32>) -> tensor<i32>
    return
  }
  func.func private @callee(%x: tensor<i32>) -> tensor<i32> {
    return %x : tensor<i32>
  }
}

// -----

// wanted: (composite_c4)
module {
  func.func public @main(%a: tensor<i32>) {
    %0 = "stablehlo.composite"(%a)
            <{name = "x.y", decomposition = @callee}> : (tensor<i32>) -> tensor<f32>
    return
  }
  func.func private @callee(%x: tensor<i32>) -> tensor<i32> {
    return %x : tensor<i32>
  }
}

// -----

// wanted: ends a region of stablehlo.while, wanted stablehlo.return there
module {
  func.func public @main(%a: tensor<i32>, %t: tensor<i1>, %f: tensor<f32>) {
    %0 = "stablehlo.while"(%a) ({
          ^bb0(%x: tensor<i32>):
            "func.return"(%t) : (tensor<i1>) -> ()
          }, {
          ^bb0(%y: tensor<i32>):
            "stablehlo.return"(%y) : (tensor<i32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: stablehlo.tanh: 1 regions, wanted none
module {
  func.func public @main(%a: tensor<f32>) {
    %0 = "stablehlo.tanh"(%a) ({
        "stablehlo.return"(%a) : (tensor<f32>) -> ()
      }) : (tensor<f32>) -> tensor<f32>
    return
  }
}

// -----

// wanted: func.return: operand 0 is tensor<?xf32>, wanted tensor<2xf32>
module {
  func.func public @main(%a: tensor<?xf32>) -> tensor<2xf32> {
    return %a : tensor<?xf32>
  }
}
