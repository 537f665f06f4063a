// An op for each way in which VHLO spells attributes otherwise than StableHLO.
module @ops attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @callee(%x: tensor<2xf32>) -> tensor<2xf32> {
    return %x : tensor<2xf32>
  }
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %i: tensor<5x1xi64>, %v: tensor<2xf32>, %img: tensor<1x8x8x2xf32>, %ker: tensor<3x3x2x4xf32>) -> (tensor<2x4xf32>, tensor<1x8x8x4xf32>) {
    %bits = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %yes = stablehlo.constant dense<true> : tensor<9x9xi1>
    %long = stablehlo.constant dense<[1, -2, 3, 4]> : tensor<4xi16>
    %z = stablehlo.constant dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %dot = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %conv = stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x8x8x4xf32>
    %gather = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<5x1xi64>) -> tensor<5x3xf32>
    %scatter = "stablehlo.scatter"(%a, %i, %gather) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<5x1xi64>, tensor<5x3xf32>) -> tensor<2x3xf32>
    %pad = stablehlo.pad %a, %zero, low = [0, 1], high = [2, 3], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x9xf32>
    %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %cmp = stablehlo.compare LT, %v, %sum, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %call = func.call @callee(%v) : (tensor<2xf32>) -> tensor<2xf32>
    %cc = stablehlo.custom_call @target(%call) {api_version = 2 : i32, backend_config = "x", called_computations = [@callee], has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>
    %sort = "stablehlo.sort"(%v) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %lt = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %n = stablehlo.constant dense<0> : tensor<i64>
    %loop:2 = stablehlo.while(%k = %n, %x = %v) : tensor<i64>, tensor<2xf32> cond {
      %ten = stablehlo.constant dense<10> : tensor<i64>
      %go = stablehlo.compare LT, %k, %ten, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %go : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i64>
      %next = stablehlo.add %k, %one : tensor<i64>
      %y = stablehlo.multiply %x, %x : tensor<2xf32>
      stablehlo.return %next, %y : tensor<i64>, tensor<2xf32>
    }
    %fft = stablehlo.fft %z, type = FFT, length = [2] : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
    return %dot, %conv : tensor<2x4xf32>, tensor<1x8x8x4xf32>
  }
}
