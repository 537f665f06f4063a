// wanted: `start_indices` does not read
module {
  func.func public @main(%a: tensor<4xf32>) {
    %0 = "stablehlo.slice"(%a) <{start_indices = #foo.bar<1>, limit_indices = array<i64: 3>, strides = array<i64: 1>}>
            : (tensor<4xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: `iota_dimension` does not read
module {
  func.func public @main() {
    %0 = "stablehlo.iota"() <{iota_dimension = array<i64: 0>}> : () -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (constant_c1)
module {
  func.func public @main() {
    %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
    return
  }
}

// -----

// wanted: `value` is missing
module {
  func.func public @main() {
    %0 = "stablehlo.constant"() : () -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (iota_c1)
module {
  func.func public @main() {
    %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (bitcast_convert_c1)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2xf32>) -> tensor<3xi32>
    return
  }
}

// -----

// wanted: (bitcast_convert_c1)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2xf32>) -> tensor<2x4xi16>
    return
  }
}

// -----

// wanted: (bitcast_convert_c1)
module {
  func.func public @main(%a: tensor<4x2xi8>) {
    %0 = "stablehlo.bitcast_convert"(%a) : (tensor<4x2xi8>) -> tensor<4xi32>
    return
  }
}

// -----

// wanted: (bitcast_convert_c2)
module {
  func.func public @main(%a: tensor<2xf64>) {
    %0 = "stablehlo.bitcast_convert"(%a) : (tensor<2xf64>) -> tensor<2xcomplex<f32>>
    return
  }
}

// -----

// wanted: stablehlo.broadcast: the result is tensor<3x2xf32>
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.broadcast"(%a)
            <{broadcast_sizes = array<i64: 4>}> : (tensor<2xf32>) -> tensor<3x2xf32>
    return
  }
}

// -----

// wanted: (broadcast_in_dim_c1)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%a)
            <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x3xf64>
    return
  }
}

// -----

// wanted: (broadcast_in_dim_c2)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%a)
            <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (broadcast_in_dim_c3)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%a)
            <{broadcast_dimensions = array<i64: 2>}> : (tensor<2xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (broadcast_in_dim_c4)
module {
  func.func public @main(%a: tensor<2x2xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%a)
            <{broadcast_dimensions = array<i64: 0, 0>}> : (tensor<2x2xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (broadcast_in_dim_c5)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.broadcast_in_dim"(%a)
            <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (concatenate_c1)
module {
  func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf64>) {
    %0 = "stablehlo.concatenate"(%a, %b)
            <{dimension = 0 : i64}> : (tensor<2xf32>, tensor<2xf64>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (concatenate_c2)
module {
  func.func public @main(%a: tensor<2x2xf32>, %b: tensor<2x3xf32>) {
    %0 = "stablehlo.concatenate"(%a, %b)
            <{dimension = 0 : i64}> : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
    return
  }
}

// -----

// wanted: (concatenate_c3)
module {
  func.func public @main() {
    %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (concatenate_c4)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.concatenate"(%a) <{dimension = 1 : i64}> : (tensor<2xf32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (concatenate_c5)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.concatenate"(%a) <{dimension = 0 : i64}> : (tensor<2xf32>) -> tensor<2xf64>
    return
  }
}

// -----

// wanted: (concatenate_c6)
module {
  func.func public @main(%a: tensor<2xf32>) {
    %0 = "stablehlo.concatenate"(%a, %a)
            <{dimension = 0 : i64}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
    return
  }
}

// -----

// wanted: (dynamic_slice_c1)
module {
  func.func public @main(%a: tensor<4xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_slice"(%a, %i)
            <{slice_sizes = array<i64: 2>}> : (tensor<4xf32>, tensor<i32>) -> tensor<2xf64>
    return
  }
}

// -----

// wanted: (dynamic_slice_c2)
module {
  func.func public @main(%a: tensor<4xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_slice"(%a, %i)
            <{slice_sizes = array<i64: 2, 1>}> : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (dynamic_slice_c2)
module {
  func.func public @main(%a: tensor<4xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_slice"(%a, %i, %i)
            <{slice_sizes = array<i64: 2>}>
            : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (dynamic_slice_c3)
module {
  func.func public @main(%a: tensor<4x4xf32>, %i: tensor<i32>, %j: tensor<i64>) {
    %0 = "stablehlo.dynamic_slice"(%a, %i, %j)
            <{slice_sizes = array<i64: 2, 1>}>
            : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<2x1xf32>
    return
  }
}

// -----

// wanted: (dynamic_slice_c4)
module {
  func.func public @main(%a: tensor<4xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_slice"(%a, %i)
            <{slice_sizes = array<i64: 5>}> : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
    return
  }
}

// -----

// wanted: (dynamic_slice_c5)
module {
  func.func public @main(%a: tensor<4xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_slice"(%a, %i)
            <{slice_sizes = array<i64: 2>}> : (tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: wanted a scalar of an integer type
module {
  func.func public @main(%a: tensor<4xf32>, %i: tensor<f32>) {
    %0 = "stablehlo.dynamic_slice"(%a, %i)
            <{slice_sizes = array<i64: 2>}> : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (dynamic_update_slice_c1)
module {
  func.func public @main(%a: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_update_slice"(%a, %u, %i)
              : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
    return
  }
}

// -----

// wanted: (dynamic_update_slice_c2)
module {
  func.func public @main(%a: tensor<4xf32>, %u: tensor<2xf64>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_update_slice"(%a, %u, %i)
              : (tensor<4xf32>, tensor<2xf64>, tensor<i32>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (dynamic_update_slice_c3)
module {
  func.func public @main(%a: tensor<4xf32>, %u: tensor<2x1xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_update_slice"(%a, %u, %i)
              : (tensor<4xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (dynamic_update_slice_c4)
module {
  func.func public @main(%a: tensor<4xf32>, %u: tensor<2xf32>) {
    %0 = "stablehlo.dynamic_update_slice"(%a, %u) : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (dynamic_update_slice_c5)
module {
  func.func public @main(%a: tensor<4x4xf32>,
                         %u: tensor<2x2xf32>,
                         %i: tensor<i32>,
                         %j: tensor<i64>) {
    %0 = "stablehlo.dynamic_update_slice"(%a, %u, %i, %j)
              : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
    return
  }
}

// -----

// wanted: (dynamic_update_slice_c6)
module {
  func.func public @main(%a: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
    %0 = "stablehlo.dynamic_update_slice"(%a, %u, %i)
              : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (get_dimension_size_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.get_dimension_size"(%a)
            <{dimension = 2 : i64}> : (tensor<2x3xf32>) -> tensor<i32>
    return
  }
}

// -----

// wanted: (pad_c1)
module {
  func.func public @main(%a: tensor<2xf32>, %v: tensor<f64>) {
    %0 = "stablehlo.pad"(%a, %v)
            <{edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}>
            : (tensor<2xf32>, tensor<f64>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (pad_c2)
module {
  func.func public @main(%a: tensor<2xf32>, %v: tensor<f32>) {
    %0 = "stablehlo.pad"(%a, %v)
            <{edge_padding_low = array<i64: 0, 1>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}>
            : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    return
  }
}

// -----

// wanted: (pad_c3)
module {
  func.func public @main(%a: tensor<2xf32>, %v: tensor<f32>) {
    %0 = "stablehlo.pad"(%a, %v)
            <{edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: -1>}>
            : (tensor<2xf32>, tensor<f32>) -> tensor<1xf32>
    return
  }
}

// -----

// wanted: (pad_c4)
module {
  func.func public @main(%a: tensor<2xf32>, %v: tensor<f32>) {
    %0 = "stablehlo.pad"(%a, %v)
            <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 2>, interior_padding = array<i64: 3>}>
            : (tensor<2xf32>, tensor<f32>) -> tensor<9xf32>
    return
  }
}

// -----

// wanted: (pad_c4)
module {
  func.func public @main(%a: tensor<2xf32>, %v: tensor<f32>) {
    %0 = "stablehlo.pad"(%a, %v)
            <{edge_padding_low = array<i64: -3>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}>
            : (tensor<2xf32>, tensor<f32>) -> tensor<0xf32>
    return
  }
}

// -----

// wanted: (reshape_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reshape"(%a) : (tensor<2x3xf32>) -> tensor<6xf64>
    return
  }
}

// -----

// wanted: (reshape_c2)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reshape"(%a) : (tensor<2x3xf32>) -> tensor<5xf32>
    return
  }
}

// -----

// wanted: (reverse_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reverse"(%a)
            <{dimensions = array<i64: 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return
  }
}

// -----

// wanted: (reverse_c2)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reverse"(%a)
            <{dimensions = array<i64: 0, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (reverse_c3)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.reverse"(%a)
            <{dimensions = array<i64: 2>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// wanted: (slice_c1)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.slice"(%a)
            <{start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 1>}>
            : (tensor<8xf32>) -> tensor<4xf64>
    return
  }
}

// -----

// wanted: (slice_c2)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.slice"(%a)
            <{start_indices = array<i64: 0>, limit_indices = array<i64: 4, 1>, strides = array<i64: 1>}>
            : (tensor<8xf32>) -> tensor<4xf32>
    return
  }
}

// -----

// wanted: (slice_c3)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.slice"(%a)
            <{start_indices = array<i64: 0>, limit_indices = array<i64: 9>, strides = array<i64: 1>}>
            : (tensor<8xf32>) -> tensor<9xf32>
    return
  }
}

// -----

// wanted: (slice_c3)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.slice"(%a)
            <{start_indices = array<i64: 3>, limit_indices = array<i64: 2>, strides = array<i64: 1>}>
            : (tensor<8xf32>) -> tensor<0xf32>
    return
  }
}

// -----

// wanted: (slice_c4)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.slice"(%a)
            <{start_indices = array<i64: 0>, limit_indices = array<i64: 8>, strides = array<i64: 0>}>
            : (tensor<8xf32>) -> tensor<8xf32>
    return
  }
}

// -----

// wanted: (slice_c5)
module {
  func.func public @main(%a: tensor<8xf32>) {
    %0 = "stablehlo.slice"(%a)
            <{start_indices = array<i64: 0>, limit_indices = array<i64: 7>, strides = array<i64: 2>}>
            : (tensor<8xf32>) -> tensor<3xf32>
    return
  }
}

// -----

// wanted: (transpose_c1)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.transpose"(%a)
            <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf64>
    return
  }
}

// -----

// wanted: (transpose_c2)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.transpose"(%a)
            <{permutation = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<3x3xf32>
    return
  }
}

// -----

// wanted: (transpose_c3)
module {
  func.func public @main(%a: tensor<2x3xf32>) {
    %0 = "stablehlo.transpose"(%a)
            <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}
