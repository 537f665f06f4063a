// wanted: (gather_c1)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c2)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c3)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c4)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c5)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c6)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c7)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1, 0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c8)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 3], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c9)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c11)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [3], start_indices_batching_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c12)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<5x1xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<5x1xi32>) -> tensor<5x7xf32>
    return
  }
}

// -----

// wanted: (gather_c14)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [2], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c15)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [1], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c16)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [1], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c17)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [1], start_indices_batching_dims = [0], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c18)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c19)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 3], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c20)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c21)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 8>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x8xf32>
    return
  }
}

// -----

// wanted: (gather_c22)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x6xf32>
    return
  }
}

// -----

// wanted: (gather_c22)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7x1xf32>
    return
  }
}

// -----

// wanted: (gather_c23)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
            <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 7>}>
            : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<4x7xf64>
    return
  }
}

// -----

// wanted: (scatter_c2)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c4)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x8xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x8xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c4)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<3x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<3x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c5)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1]>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c6)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf64>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf64>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c7)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c8)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c9)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c10)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c11)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 3], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c13)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [3], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c15)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [2], scatter_dims_to_operand_dims = [0, 2], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c16)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [0, 2], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c17)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [1], scatter_dims_to_operand_dims = [0, 2], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c18)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [1], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [0, 2], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c19)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c20)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c21)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 3], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c22)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 3>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c23)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f64>, %q: tensor<f64>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f64>, tensor<f64>) -> tensor<f64>
            "stablehlo.return"(%r) : (tensor<f64>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c24)
module {
  func.func public @main(%a: tensor<5x6x7xf32>, %i: tensor<4x2xi32>, %u: tensor<4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
            <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %r = "stablehlo.add"(%p, %q) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "stablehlo.return"(%r) : (tensor<f32>) -> ()
          }) : (tensor<5x6x7xf32>, tensor<4x2xi32>, tensor<4x7xf32>) -> tensor<5x6x8xf32>
    return
  }
}

// -----

// wanted: (gather_c10)
module {
  func.func public @main(%a: tensor<4x4x7xf32>, %i: tensor<4x4x1xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
        <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [1, 0], start_indices_batching_dims = [1, 0], start_index_map = [2], index_vector_dim = 2>,
          slice_sizes = array<i64: 1, 1, 7>}>
        : (tensor<4x4x7xf32>, tensor<4x4x1xi32>) -> tensor<4x4x7xf32>
    return
  }
}

// -----

// wanted: (gather_c13)
module {
  func.func public @main(%a: tensor<4x4x7xf32>, %i: tensor<4x4x1xi32>) {
    %0 = "stablehlo.gather"(%a, %i)
        <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 0], start_index_map = [2], index_vector_dim = 2>,
          slice_sizes = array<i64: 1, 1, 7>}>
        : (tensor<4x4x7xf32>, tensor<4x4x1xi32>) -> tensor<4x4x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c12)
module {
  func.func public @main(%a: tensor<4x4x7xf32>, %i: tensor<4x4x1xi32>, %u: tensor<4x4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
        <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [1, 0], scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            "stablehlo.return"(%p) : (tensor<f32>) -> ()
          })
        : (tensor<4x4x7xf32>, tensor<4x4x1xi32>, tensor<4x4x7xf32>) -> tensor<4x4x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c14)
module {
  func.func public @main(%a: tensor<4x4x7xf32>, %i: tensor<4x4x1xi32>, %u: tensor<4x4x7xf32>) {
    %0 = "stablehlo.scatter"(%a, %i, %u)
        <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            "stablehlo.return"(%p) : (tensor<f32>) -> ()
          })
        : (tensor<4x4x7xf32>, tensor<4x4x1xi32>, tensor<4x4x7xf32>) -> tensor<4x4x7xf32>
    return
  }
}

// -----

// wanted: (scatter_c1)
module {
  func.func public @main(%a: tensor<5xf32>, %b: tensor<6xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) {
    %0:2 = "stablehlo.scatter"(%a, %b, %i, %u, %u)
        <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
            "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> ()
          })
        : (tensor<5xf32>, tensor<6xf32>, tensor<4x1xi32>, tensor<4xf32>, tensor<4xf32>)
          -> (tensor<5xf32>, tensor<6xf32>)
    return
  }
}

// -----

// wanted: (scatter_c3)
module {
  func.func public @main(%a: tensor<5xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>, %w: tensor<3xf32>) {
    %0:2 = "stablehlo.scatter"(%a, %a, %i, %u, %w)
        <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
          ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
            "stablehlo.return"(%p, %q) : (tensor<f32>, tensor<f32>) -> ()
          })
        : (tensor<5xf32>, tensor<5xf32>, tensor<4x1xi32>, tensor<4xf32>, tensor<3xf32>)
          -> (tensor<5xf32>, tensor<5xf32>)
    return
  }
}
