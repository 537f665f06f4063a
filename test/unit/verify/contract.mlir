// wanted: `window_strides` does not read
module {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 2>, window_strides = unit}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = "stablehlo.add"(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (dot_general_c1)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c2)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c3)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c4)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c5)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [3], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c6)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [-1], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c7)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [3], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c8)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c9)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<3x2x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c10)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
    return
  }
}

// -----

// wanted: (dot_general_c12)
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
            <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}>
            : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>
    return
  }
}

// -----

// wanted: `dot_dimension_numbers` is missing
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot_general"(%a, %b)
              : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: the right side's first is 5
module {
  func.func public @main(%a: tensor<2x4xf32>, %b: tensor<5x3xf32>) {
    %0 = "stablehlo.dot"(%a, %b) : (tensor<2x4xf32>, tensor<5x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: wanted its shape to be 2x3
module {
  func.func public @main(%a: tensor<2x4xf32>, %b: tensor<4x3xf32>) {
    %0 = "stablehlo.dot"(%a, %b) : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<3x2xf32>
    return
  }
}

// -----

// wanted: wanted 1 or 2
module {
  func.func public @main(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>) {
    %0 = "stablehlo.dot"(%a, %b) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    return
  }
}

// -----

// wanted: (convolution_c1)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c2)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_strides = array<i64: 1, 1>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c3)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_strides = array<i64: 0>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c4)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, padding = dense<0> : tensor<2x2xi64>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c5)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, lhs_dilation = array<i64: 1, 1>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c6)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, lhs_dilation = array<i64: 0>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c7)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, rhs_dilation = array<i64: 1, 1>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c8)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, rhs_dilation = array<i64: -1>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c9)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_reversal = array<i1: false, false>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c10)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 3 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c11)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 3 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c12)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c14)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 2 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c15)
module {
  func.func public @main(%a: tensor<4x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 4 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<4x8x4xf32>, tensor<3x4x6xf32>) -> tensor<1x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c16)
module {
  func.func public @main(%a: tensor<4x8x4xf32>, %b: tensor<3x1x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 4 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<4x8x4xf32>, tensor<3x1x6xf32>) -> tensor<4x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c21)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 0 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c22)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 0 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c23)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 2 : i64, feature_group_count = 2 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c25)
module {
  func.func public @main(%a: tensor<2x8x4xf32>, %b: tensor<3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
            <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_strides = array<i64: 2>}>
            : (tensor<2x8x4xf32>, tensor<3x4x6xf32>) -> tensor<2x6x6xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c1)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0:2 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> (tensor<7xf32>, tensor<7xf32>)
    return
  }
}

// -----

// wanted: (reduce_window_c3)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f64>) {
    %0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f64>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c4)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 2, 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c5)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 0>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c6)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 1, 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c7)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 0>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c8)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, base_dilations = array<i64: 1, 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c9)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, base_dilations = array<i64: 0>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c10)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, window_dilations = array<i64: 1, 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c11)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, window_dilations = array<i64: 0>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c12)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, padding = dense<0> : tensor<2x2xi64>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c13)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i) <{window_dimensions = array<i64: 2>}> ({
          ^bb0(%p: tensor<f64>, %q: tensor<f64>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f64>, tensor<f64>) -> tensor<f64>
            "stablehlo.return"(%r) : (tensor<f64>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c15)
module {
  func.func public @main(%a: tensor<8xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.reduce_window"(%a, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<f32>) -> tensor<7xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c1)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf64>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<4xf64>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c2)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<5xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<5xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c3)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f64>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f64>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c5)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 0>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c7)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 0>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c8)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, padding = dense<0> : tensor<2x2xi64>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c9)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f64>, %q: tensor<f64>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f64>, tensor<f64>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c10)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f64>, %q: tensor<f64>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f64>, tensor<f64>) -> tensor<f64>
            "stablehlo.return"(%r) : (tensor<f64>) -> ()
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c11)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
            <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
    return
  }
}

// -----

// wanted: (cholesky_c1)
module {
  func.func public @main(%a: tensor<3x3xf32>) {
    %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3x3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (cholesky_c2)
module {
  func.func public @main(%a: tensor<3xf32>) {
    %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (cholesky_c3)
module {
  func.func public @main(%a: tensor<3x4xf32>) {
    %0 = "stablehlo.cholesky"(%a) <{lower = true}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
    return
  }
}

// -----

// wanted: (triangular_solve_c1)
module {
  func.func public @main(%a: tensor<3x3xf32>, %b: tensor<3x2xf64>) {
    %0 = "stablehlo.triangular_solve"(%a, %b)
            <{left_side = true}> : (tensor<3x3xf32>, tensor<3x2xf64>) -> tensor<3x2xf64>
    return
  }
}

// -----

// wanted: (triangular_solve_c2)
module {
  func.func public @main(%a: tensor<3x3xf32>, %b: tensor<3xf32>) {
    %0 = "stablehlo.triangular_solve"(%a, %b)
            <{left_side = true}> : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (triangular_solve_c3)
module {
  func.func public @main(%a: tensor<3x3xf32>, %b: tensor<2x3xf32>) {
    %0 = "stablehlo.triangular_solve"(%a, %b)
            <{left_side = true}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (triangular_solve_c4)
module {
  func.func public @main(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>) {
    %0 = "stablehlo.triangular_solve"(%a, %b)
            <{left_side = true}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (fft_c1)
module {
  func.func public @main(%a: tensor<8xcomplex<f32>>) {
    %0 = "stablehlo.fft"(%a)
            <{fft_length = array<i64: 8, 8>, fft_type = #stablehlo<fft_type FFT>}>
            : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return
  }
}

// -----

// wanted: (fft_c2)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.fft"(%a)
            <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type FFT>}>
            : (tensor<8xf32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (fft_c3)
module {
  func.func public @main(%a: tensor<8xcomplex<f32>>) {
    %0 = "stablehlo.fft"(%a)
            <{fft_length = array<i64>, fft_type = #stablehlo<fft_type FFT>}>
            : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return
  }
}

// -----

// wanted: (fft_c4)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.fft"(%a)
            <{fft_length = array<i64: 7>, fft_type = #stablehlo<fft_type RFFT>}>
            : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
    return
  }
}

// -----

// wanted: (fft_c5)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.fft"(%a)
            <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type RFFT>}>
            : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
    return
  }
}

// -----

// wanted: (fft_c5)
module {
  func.func public @main(%a: tensor<8xcomplex<f32>>) {
    %0 = "stablehlo.fft"(%a)
            <{fft_length = array<i64: 8>, fft_type = #stablehlo<fft_type IRFFT>}>
            : (tensor<8xcomplex<f32>>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: `k` is 5
module {
  func.func public @main(%a: tensor<4xf32>) {
    %0:2 = "chlo.top_k"(%a) <{k = 5 : i64}> : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi32>)
    return
  }
}

// -----

// wanted: chlo.top_k: result 1 is
module {
  func.func public @main(%a: tensor<4xf32>) {
    %0:2 = "chlo.top_k"(%a) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    return
  }
}

// -----

// wanted: (batch_norm_inference_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>, %v: tensor<3xf32>) {
    %0 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v)
            <{epsilon = 0.1 : f32, feature_index = 2 : i64}>
           
              : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (batch_norm_inference_c3)
module {
  func.func public @main(%a: tensor<2x3xf32>, %v: tensor<3xf32>) {
    %0 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v)
            <{epsilon = 0.1 : f32, feature_index = 0 : i64}>
           
              : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (convolution_c13)
module {
  func.func public @main(%a: tensor<2x8x8x4xf32>, %b: tensor<3x3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
        <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f]>,
          feature_group_count = 1 : i64}>
        : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x6x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c18)
module {
  func.func public @main(%a: tensor<2x8x8x4xf32>, %b: tensor<3x3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
        <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[1, 1, i, o]->[b, 0, 1, f]>,
          feature_group_count = 1 : i64}>
        : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x6x6x6xf32>
    return
  }
}

// -----

// wanted: (convolution_c20)
module {
  func.func public @main(%a: tensor<2x8x8x4xf32>, %b: tensor<3x3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
        <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 1, 1, f]>,
          feature_group_count = 1 : i64}>
        : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x6x6x6xf32>
    return
  }
}

// -----

// wanted: `dimension_numbers` does not read
module {
  func.func public @main(%a: tensor<2x8x8x4xf32>, %b: tensor<3x3x4x6xf32>) {
    %0 = "stablehlo.convolution"(%a, %b)
        <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, f]>,
          feature_group_count = 1 : i64}>
        : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x6x6x6xf32>
    return
  }
}

// -----

// wanted: (reduce_window_c2)
module {
  func.func public @main(%a: tensor<8xf32>, %b: tensor<9xf32>, %i: tensor<f32>) {
    %0:2 = "stablehlo.reduce_window"(%a, %b, %i, %i)
        <{window_dimensions = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
            "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> ()
          })
        : (tensor<8xf32>, tensor<9xf32>, tensor<f32>, tensor<f32>) -> (tensor<7xf32>, tensor<7xf32>)
    return
  }
}

// -----

// wanted: (select_and_scatter_c4)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
        <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            stablehlo.return %p : tensor<f32>
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (select_and_scatter_c6)
module {
  func.func public @main(%a: tensor<8xf32>, %s: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.select_and_scatter"(%a, %s, %i)
        <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2, 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %r : tensor<i1>
          }, {
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            stablehlo.return %p : tensor<f32>
          }) : (tensor<8xf32>, tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (batch_norm_grad_c3)
module {
  func.func public @main(%a: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<3xf64>, %g: tensor<3x2xf32>) {
    %0:3 = "stablehlo.batch_norm_grad"(%a, %v, %v, %v, %g)
        <{epsilon = 0.1 : f32, feature_index = 1 : i64}>
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>)
          -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
    return
  }
}

// -----

// wanted: (batch_norm_grad_c5)
module {
  func.func public @main(%a: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<3xf64>, %g: tensor<3x2xf32>) {
    %0:3 = "stablehlo.batch_norm_grad"(%a, %v, %v, %v, %a)
        <{epsilon = 0.1 : f32, feature_index = 1 : i64}>
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>)
          -> (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>)
    return
  }
}

// -----

// wanted: (batch_norm_training_c2)
module {
  func.func public @main(%a: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<3xf64>, %g: tensor<3x2xf32>) {
    %0:3 = "stablehlo.batch_norm_training"(%a, %v, %w)
        <{epsilon = 0.1 : f32, feature_index = 1 : i64}>
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf64>)
          -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
    return
  }
}

// -----

// wanted: (batch_norm_training_c7)
module {
  func.func public @main(%a: tensor<2x3xf32>, %v: tensor<3xf32>, %w: tensor<3xf64>, %g: tensor<3x2xf32>) {
    %0:3 = "stablehlo.batch_norm_training"(%a, %v, %v)
        <{epsilon = 0.1 : f32, feature_index = 1 : i64}>
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
          -> (tensor<3x2xf32>, tensor<3xf32>, tensor<3xf32>)
    return
  }
}
