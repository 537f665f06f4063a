// wanted: slice 11 of extent 10
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 11 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: slice 0 of extent 10
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 0 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: `in_units` has 1 elements
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: `out_dims` has 1 elements
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0>, out_units = array<i64: 2>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: element 0 of `in_units` is 0
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 0, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: 3 operands for 2 inputs and 0 carries
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, 0>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: the argument of operand 0: dimension 0 of tensor<20x3xf32>, wanted length 10 times 3
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 3, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: slices of tensor<20x?xf32>, wanted known sizes
module {
  func.func public @main(%a: tensor<20x?xf32>) {
    %0 = "weir.loop"(%a)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0>, in_units = array<i64: 2>, out_dims = array<i64: 0>, out_units = array<i64: 2>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x?xf32>):
            "weir.yield"(%x) : (tensor<8x?xf32>) -> ()
          }) : (tensor<20x?xf32>) -> tensor<20x?xf32>
    return
  }
}

// -----

// wanted: the slice is tensor<7x3xf32>, wanted length 8
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<7x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<7x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: the argument of operand 1 is tensor<4xf32>, wanted tensor<5xf32>
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<4xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: the argument of carry operand 2 is tensor<f64>
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f64>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f64>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: the body has 4 arguments, wanted 5
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: the body yields 1 values, wanted 2
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x) : (tensor<8x3xf32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: yielded value 0: the slice is tensor<5xf32>
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%y, %z) : (tensor<5xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: yielded value 1 is tensor<5xf32>, wanted tensor<f32>
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %y) : (tensor<8x3xf32>, tensor<5xf32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: yielded value 0: dimension 0 of tensor<21x3xf32>
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<21x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: carry result 1 is tensor<5xf32>, wanted tensor<f32>
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%x, %y) : (tensor<8x3xf32>, tensor<5xf32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<5xf32>)
    return
  }
}

// -----

// wanted: operand 0 is defined outside of the isolated region
module {
  func.func public @main(%a: tensor<20x3xf32>,
                         %b: tensor<5xf32>,
                         %c: tensor<f32>,
                         %s: tensor<8x3xf32>) {
    %0:2 = "weir.loop"(%a, %b, %c)
            <{extent = 10 : i64, slice = 4 : i64, in_dims = array<i64: 0, -1>, in_units = array<i64: 2, 1>, out_dims = array<i64: 0, -1>, out_units = array<i64: 2, 1>}> ({
          ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %x: tensor<8x3xf32>, %y: tensor<5xf32>, %z: tensor<f32>):
            "weir.yield"(%s, %z) : (tensor<8x3xf32>, tensor<f32>) -> ()
          }) : (tensor<20x3xf32>, tensor<5xf32>, tensor<f32>) -> (tensor<20x3xf32>, tensor<f32>)
    return
  }
}

// -----

// wanted: the result is tensor<4xf32>
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "weir.carry"(%a) : (tensor<3xf32>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: operand 1 is tensor<4xf32>
module {
  func.func public @main(%a: tensor<3xf32>, %b: tensor<4xf32>, %t: tensor<i1>) {
    %0 = "weir.carry"(%a) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "weir.repeat"(%0, %b, %t) : (tensor<3xf32>, tensor<4xf32>, tensor<i1>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: operand 0, wanted a weir.carry
module {
  func.func public @main(%a: tensor<3xf32>, %t: tensor<i1>) {
    %0 = "weir.repeat"(%a, %a, %t) : (tensor<3xf32>, tensor<3xf32>, tensor<i1>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: operand 2 is tensor<2xi1>
module {
  func.func public @main(%a: tensor<3xf32>, %t: tensor<2xi1>) {
    %0 = "weir.carry"(%a) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "weir.repeat"(%0, %a, %t) : (tensor<3xf32>, tensor<3xf32>, tensor<2xi1>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: 4 operands
module {
  func.func public @main(%a: tensor<3xf32>, %t: tensor<i1>) {
    %0 = "weir.carry"(%a) : (tensor<3xf32>) -> tensor<3xf32>
    %1 = "weir.repeat"(%0, %a, %a, %t) : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<i1>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: the result is tensor<3xbf16>
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "weir.round"(%a) <{format = bf16}> : (tensor<3xf32>) -> tensor<3xbf16>
    return
  }
}

// -----

// wanted: the operand, wanted f32
module {
  func.func public @main(%a: tensor<3xf64>) {
    %0 = "weir.round"(%a) <{format = bf16}> : (tensor<3xf64>) -> tensor<3xf64>
    return
  }
}

// -----

// wanted: `format`, wanted bf16 or f16
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "weir.round"(%a) <{format = f64}> : (tensor<3xf32>) -> tensor<3xf32>
    return
  }
}
