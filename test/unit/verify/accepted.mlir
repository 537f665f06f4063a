// wanted: no error
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<?x3xf32>, %b: tensor<2x3xf32>) {
    %0 = "stablehlo.add"(%a, %b) : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<?xf32, #stablehlo.bounds<5>>) {
    %0 = "stablehlo.tanh"(%a) : (tensor<?xf32, #stablehlo.bounds<5>>) -> tensor<?xf32>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<2x!quant.uniform<i8:f32, 0.5>>) {
    %0 = "stablehlo.floor"(%a)
              : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.25>>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: !mine.type) {
    %0 = "stablehlo.add"(%a) : (!mine.type) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "mine.op"(%a) : (tensor<2xf32>) -> tensor<3xf64>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<2x3xf8E4M3FN>, %b: tensor<3x2xf8E5M2>) {
    %0 = "stablehlo.dot"(%a, %b) : (tensor<2x3xf8E4M3FN>, tensor<3x2xf8E5M2>) -> tensor<2x2xf32>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<9223372036854775807x9223372036854775807xf32>) {
    %0 = "stablehlo.tanh"(%a)
              : (tensor<9223372036854775807x9223372036854775807xf32>) -> tensor<9223372036854775807x9223372036854775807xf32>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<i32>, %t: tensor<i1>) {
    %0 = "stablehlo.while"(%a) ({
          ^bb0(%x: tensor<i32>):
            "stablehlo.return"(%t) : (tensor<i1>) -> ()
          }, {
          ^bb0(%y: tensor<i32>):
            "stablehlo.return"(%a) : (tensor<i32>) -> ()
          }) : (tensor<i32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<3xf32>, %t: tensor<i1>) {
    %0 = "weir.carry"(%a) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "weir.repeat"(%0, %a, %t) <{depth = 0 : i64, turns = 1 : i64}> : (tensor<3xf32>, tensor<3xf32>, tensor<i1>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: no error
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "weir.round"(%a) <{format = bf16}> : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "weir.round"(%a) <{format = f16}> : (tensor<3xf32>) -> tensor<3xf32>
    return
  }
}
