// wanted: (abs_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.abs"(%a) : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return
  }
}

// -----

// wanted: (abs_c2)
module {
  func.func public @main(%a: tensor<2xcomplex<f32>>) {
    %0 = "stablehlo.abs"(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    return
  }
}

// -----

// wanted: (add_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
    %0 = "stablehlo.add"(%a, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (add_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf64>
    return
  }
}

// -----

// wanted: stablehlo.add: 1 operands, wanted 2
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.add"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: stablehlo.tanh: 2 operands, wanted 1
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.tanh"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: stablehlo.tanh: 2 results, wanted 1
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0:2 = "stablehlo.tanh"(%a) : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    return
  }
}

// -----

// wanted: operand 0 is !stablehlo.token, wanted a tensor
module {
  func.func public @main(%a: !stablehlo.token) {
    %0 = "stablehlo.tanh"(%a) : (!stablehlo.token) -> !stablehlo.token
    return
  }
}

// -----

// wanted: wanted elements of a boolean or signed integer or unsigned integer type
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.and"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: wanted elements of a floating-point or complex type
module {
  func.func public @main(%a: tensor<2xi32>) {
    %0 = "stablehlo.exponential"(%a) : (tensor<2xi32>) -> tensor<2xi32>
    return
  }
}

// -----

// wanted: wanted elements of a floating-point type
module {
  func.func public @main(%a: tensor<2xi32>) {
    %0 = "stablehlo.floor"(%a) : (tensor<2xi32>) -> tensor<2xi32>
    return
  }
}

// -----

// wanted: (tanh_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.tanh"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
    return
  }
}

// -----

// wanted: chlo.acosh: operand 0 is tensor<2xi32>, wanted elements of a floating-point or complex type
module {
  func.func public @main(%a: tensor<2xi32>) {
    %0 = "chlo.acosh"(%a) : (tensor<2xi32>) -> tensor<2xi32>
    return
  }
}

// -----

// wanted: (erf_inv_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "chlo.erf_inv"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
    return
  }
}

// -----

// wanted: (real_c1)
module {
  func.func public @main(%a: tensor<2xcomplex<f32>>) {
    %0 = "stablehlo.real"(%a) : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (imag_c2)
module {
  func.func public @main(%a: tensor<2xcomplex<f64>>) {
    %0 = "stablehlo.imag"(%a) : (tensor<2xcomplex<f64>>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (is_finite_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.is_finite"(%a) : (tensor<2x3xf32>) -> tensor<2xi1>
    return
  }
}

// -----

// wanted: wanted elements of i1
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.is_finite"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (convert_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.convert"(%a) : (tensor<2x3xf32>) -> tensor<3xf64>
    return
  }
}

// -----

// wanted: (reduce_precision_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reduce_precision"(%a)
            <{exponent_bits = 5 : i32, mantissa_bits = 2 : i32}>
            : (tensor<2x3xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (reduce_precision_c2)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reduce_precision"(%a)
            <{exponent_bits = 0 : i32, mantissa_bits = 2 : i32}>
            : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (reduce_precision_c3)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reduce_precision"(%a)
            <{exponent_bits = 5 : i32, mantissa_bits = -1 : i32}>
            : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (compare_c1)
module {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf64>) {
    %0 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
    return
  }
}

// -----

// wanted: (compare_c2)
module {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
    %0 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
    return
  }
}

// -----

// wanted: (compare_c2)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = stablehlo.compare EQ, %a, %a, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
    return
  }
}

// -----

// wanted: (compare_c3)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = stablehlo.compare EQ, %a, %a, SIGNED : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return
  }
}

// -----

// wanted: `comparison_direction` is missing
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.compare"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    return
  }
}

// -----

// wanted: (complex_c1)
module {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf64>) {
    %0 = "stablehlo.complex"(%a, %b) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xcomplex<f32>>
    return
  }
}

// -----

// wanted: (complex_c2)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.complex"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xcomplex<f32>>
    return
  }
}

// -----

// wanted: (complex_c3)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.complex"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f64>>
    return
  }
}

// -----

// wanted: (select_c1)
module {
  func.func public @main(%p: tensor<3xi1>, %a: tensor<2xf32>) {
    %0 = "stablehlo.select"(%p, %a, %a)
              : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (select_c2)
module {
  func.func public @main(%p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xf64>) {
    %0 = "stablehlo.select"(%p, %a, %b)
              : (tensor<i1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: wanted elements of a boolean type
module {
  func.func public @main(%p: tensor<i32>, %a: tensor<2xf32>) {
    %0 = "stablehlo.select"(%p, %a, %a)
              : (tensor<i32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (clamp_c1)
module {
  func.func public @main(%l: tensor<3xf32>, %a: tensor<2xf32>, %h: tensor<f32>) {
    %0 = "stablehlo.clamp"(%l, %a, %h)
              : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (clamp_c2)
module {
  func.func public @main(%l: tensor<f32>, %a: tensor<2xf32>, %h: tensor<3xf32>) {
    %0 = "stablehlo.clamp"(%l, %a, %h)
              : (tensor<f32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (clamp_c3)
module {
  func.func public @main(%l: tensor<f64>, %a: tensor<2xf32>, %h: tensor<f32>) {
    %0 = "stablehlo.clamp"(%l, %a, %h) : (tensor<f64>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (clamp_c4)
module {
  func.func public @main(%l: tensor<f32>, %a: tensor<2xf32>, %h: tensor<f32>) {
    %0 = "stablehlo.clamp"(%l, %a, %h) : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
    return
  }
}
