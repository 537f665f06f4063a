/* Which attributes of an op are properties (inherent to it): the pretty form mixes them with the
 * discardable ones. Sources: the op definitions of StableHLO, CHLO, func and Shardy. */
#include "in/parser.h"

#define UNARY_MATH "result_accuracy"
#define CHANNELS "channel_handle replica_groups use_global_device_ids"
#define CONVOLUTION                                                                                \
  "batch_group_count dimension_numbers feature_group_count lhs_dilation padding precision_config " \
  "rhs_dilation window_reversal "                                                                  \
  "window_strides"

static const char *const properties[IR_OP_COUNT] = {
    [IR_OP_MODULE] = "sym_name sym_visibility",
    [IR_OP_FUNC] = "arg_attrs function_type no_inline res_attrs sym_name sym_visibility",
    [IR_OP_CALL] = "arg_attrs callee no_inline res_attrs",
    [IR_OP_CONSTANT] = "value",
    [IR_OP_ARITH_CONSTANT] = "value",
    [IR_OP_IOTA] = "iota_dimension",
    [IR_OP_CBRT] = UNARY_MATH,
    [IR_OP_COSINE] = UNARY_MATH,
    [IR_OP_EXPONENTIAL] = UNARY_MATH,
    [IR_OP_EXPM1] = UNARY_MATH,
    [IR_OP_LOG] = UNARY_MATH,
    [IR_OP_LOG1P] = UNARY_MATH,
    [IR_OP_LOGISTIC] = UNARY_MATH,
    [IR_OP_RSQRT] = UNARY_MATH,
    [IR_OP_SINE] = UNARY_MATH,
    [IR_OP_SQRT] = UNARY_MATH,
    [IR_OP_TAN] = UNARY_MATH,
    [IR_OP_TANH] = UNARY_MATH,
    [IR_OP_REDUCE_PRECISION] = "exponent_bits mantissa_bits",
    [IR_OP_COMPARE] = "compare_type comparison_direction",
    [IR_OP_MAP] = "dimensions",
    [IR_OP_BROADCAST] = "broadcast_sizes",
    [IR_OP_BROADCAST_IN_DIM] = "broadcast_dimensions",
    [IR_OP_CONCATENATE] = "dimension",
    [IR_OP_DYNAMIC_SLICE] = "slice_sizes",
    [IR_OP_GATHER] = "dimension_numbers indices_are_sorted slice_sizes",
    [IR_OP_GET_DIMENSION_SIZE] = "dimension",
    [IR_OP_PAD] = "edge_padding_high edge_padding_low interior_padding",
    [IR_OP_REVERSE] = "dimensions",
    [IR_OP_SCATTER] = "indices_are_sorted scatter_dimension_numbers unique_indices",
    [IR_OP_SELECT_AND_SCATTER] = "padding window_dimensions window_strides",
    [IR_OP_SLICE] = "limit_indices start_indices strides",
    [IR_OP_TORCH_INDEX_SELECT] = "batch_dims dim",
    [IR_OP_TRANSPOSE] = "permutation",
    [IR_OP_CONVOLUTION] = CONVOLUTION,
    [IR_OP_DYNAMIC_CONV] = CONVOLUTION,
    [IR_OP_DOT] = "precision_config",
    [IR_OP_DOT_GENERAL] = "algorithm dot_dimension_numbers precision_config",
    [IR_OP_EINSUM] = "einsum_config",
    [IR_OP_UNARY_EINSUM] = "einsum_config",
    [IR_OP_REDUCE] = "dimensions",
    [IR_OP_REDUCE_WINDOW] =
        "base_dilations padding window_dilations window_dimensions window_strides",
    [IR_OP_SORT] = "dimension is_stable",
    [IR_OP_CHLO_TOP_K] = "is_stable k",
    [IR_OP_CHOLESKY] = "lower",
    [IR_OP_FFT] = "fft_length fft_type",
    [IR_OP_TRIANGULAR_SOLVE] = "left_side lower transpose_a unit_diagonal",
    [IR_OP_CUSTOM_CALL] =
        "api_version backend_config call_target_name called_computations has_side_effect "
        "operand_layouts output_operand_aliases result_layouts "
        "result_tilings",
    [IR_OP_BATCH_NORM_GRAD] = "epsilon feature_index",
    [IR_OP_BATCH_NORM_INFERENCE] = "epsilon feature_index",
    [IR_OP_BATCH_NORM_TRAINING] = "epsilon feature_index",
    [IR_OP_RNG] = "rng_distribution",
    [IR_OP_RNG_BIT_GENERATOR] = "rng_algorithm",
    [IR_OP_COMPOSITE] = "composite_attributes decomposition name version",
    [IR_OP_GET_TUPLE_ELEMENT] = "index",
    [IR_OP_INFEED] = "infeed_config layout",
    [IR_OP_OUTFEED] = "outfeed_config",
    [IR_OP_SEND] = "channel_handle is_host_transfer source_target_pairs",
    [IR_OP_RECV] = "channel_handle is_host_transfer source_target_pairs",
    [IR_OP_ALL_GATHER] = "all_gather_dim " CHANNELS,
    [IR_OP_ALL_REDUCE] = CHANNELS,
    [IR_OP_ALL_TO_ALL] =
        "channel_handle concat_dimension replica_groups split_count split_dimension",
    [IR_OP_COLLECTIVE_BROADCAST] = "channel_handle has_dynamic_root replica_groups",
    [IR_OP_COLLECTIVE_PERMUTE] = "channel_handle source_target_pairs",
    [IR_OP_REDUCE_SCATTER] = "scatter_dimension " CHANNELS,
    [IR_OP_CROSS_REPLICA_SUM] = "replica_groups",
    [IR_OP_DYNAMIC_BROADCAST_IN_DIM] =
        "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions",
    [IR_OP_DYNAMIC_GATHER] = "dimension_numbers indices_are_sorted",
    [IR_OP_DYNAMIC_IOTA] = "iota_dimension",
    [IR_OP_SET_DIMENSION_SIZE] = "dimension",
    [IR_OP_CHLO_CONSTANT] = "value",
    [IR_OP_CHLO_CONSTANT_LIKE] = "value",
    [IR_OP_CHLO_BROADCAST_ADD] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_AND] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_ATAN2] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_COMPLEX] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_DIVIDE] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_MAXIMUM] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_MINIMUM] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_MULTIPLY] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_NEXT_AFTER] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_OR] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_POLYGAMMA] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_POWER] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_REMAINDER] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_SHIFT_LEFT] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_ARITHMETIC] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_LOGICAL] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_SUBTRACT] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_XOR] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_ZETA] = "broadcast_dimensions",
    [IR_OP_CHLO_BROADCAST_COMPARE] = "broadcast_dimensions compare_type comparison_direction",
    [IR_OP_CHLO_RAGGED_DOT] = "precision_config ragged_dot_dimension_numbers",
    [IR_OP_CHLO_SCAN] = "dimension is_associative is_reverse scan_dim_size",
    [IR_OP_SDY_MESH] = "mesh sym_name",
    [IR_OP_SDY_SHARDING_CONSTRAINT] = "sharding",
    [IR_OP_SDY_MANUAL_COMPUTATION] = "in_shardings manual_axes out_shardings",
};

const char *in_properties(ir_kind kind) { return properties[kind]; }

bool in_has_word(const char *list, const char *wanted) {
  size_t length = strlen(wanted);
  for (const char *s = list; *s;) {
    size_t n = strcspn(s, " ");
    if (n == length && !memcmp(s, wanted, n)) return true;
    s += n + (s[n] == ' ');
  }
  return false;
}

bool in_is_property(const in_parser *p, ir_kind kind, ir_str name) {
  return properties[kind] && in_has_word(properties[kind], ir_text(p->m, name));
}
