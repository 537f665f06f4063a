/* Builders: result types are derived from the operands, as in the op table's shape rules. */
#include "base/strbuf.h"
#include "ir/attrs.h"
#include "ir/floats.h"

ir_op ir_build_op(ir_builder *b, ir_kind kind, uint32_t n_operands, const ir_value *operands,
                  uint32_t n_results, const ir_type *types, uint32_t n_attrs,
                  const ir_named_attr *attrs, uint32_t n_regions) {
  return ir_op_new(b->m, b->block,
                   &(ir_op_desc){.kind = kind,
                                 .n_operands = n_operands,
                                 .operands = operands,
                                 .n_results = n_results,
                                 .result_types = types,
                                 .n_attrs = n_attrs,
                                 .attrs = attrs,
                                 .n_regions = n_regions,
                                 .location = b->location});
}

ir_value ir_build(ir_builder *b, ir_kind kind, uint32_t n, const ir_value *operands, ir_type type,
                  uint32_t n_attrs, const ir_named_attr *attrs) {
  ir_op op = ir_build_op(b, kind, n, operands, 1, &type, n_attrs, attrs, 0);
  return ir_result(b->m, op, 0);
}

ir_named_attr ir_property(ir_module *m, const char *name, ir_attr value) {
  return (ir_named_attr){ir_intern_string(m, name), value, true};
}

ir_value ir_build_unary(ir_builder *b, ir_kind kind, ir_value x) {
  return ir_build(b, kind, 1, &x, ir_type_of(b->m, x), 0, NULL);
}

ir_value ir_build_binary(ir_builder *b, ir_kind kind, ir_value x, ir_value y) {
  CTX_CHECK(b->m->ctx, ir_type_of(b->m, x) == ir_type_of(b->m, y));
  return ir_build(b, kind, 2, (ir_value[]){x, y}, ir_type_of(b->m, x), 0, NULL);
}

static const char *compare_type_of(ir_dtype d) {
  switch (ir_dtype_class_of(d)) {
    case IR_CLASS_INT: return "#stablehlo<comparison_type SIGNED>";
    case IR_CLASS_UINT:
    case IR_CLASS_BOOL: return "#stablehlo<comparison_type UNSIGNED>";
    default: return "#stablehlo<comparison_type FLOAT>";
  }
}

ir_value ir_build_compare(ir_builder *b, const char *direction, ir_value x, ir_value y) {
  ir_module *m = b->m;
  const ir_type_data *t = ir_type_at(m, x);
  CTX_CHECK(m->ctx, ir_type_of(m, x) == ir_type_of(m, y));
  ir_attr way =
      ir_attr_other(m, arena_printf(m->arena, "#stablehlo<comparison_direction %s>", direction));
  ir_attr type = ir_attr_other(m, compare_type_of(t->dtype));
  ir_named_attr attrs[] = {ir_property(m, "compare_type", type),
                           ir_property(m, "comparison_direction", way)};
  t = ir_type_at(m, x);
  return ir_build(b, IR_OP_COMPARE, 2, (ir_value[]){x, y}, ir_tensor(m, IR_I1, t->rank, t->dims), 2,
                  attrs);
}

ir_value ir_build_select(ir_builder *b, ir_value pred, ir_value on_true, ir_value on_false) {
  CTX_CHECK(b->m->ctx, ir_type_of(b->m, on_true) == ir_type_of(b->m, on_false));
  return ir_build(b, IR_OP_SELECT, 3, (ir_value[]){pred, on_true, on_false},
                  ir_type_of(b->m, on_true), 0, NULL);
}

ir_value ir_build_clamped(ir_builder *b, ir_value x, int64_t low, int64_t high) {
  ir_value above = ir_build_binary(b, IR_OP_MAXIMUM, x, ir_build_int_like(b, x, low));
  return ir_build_binary(b, IR_OP_MINIMUM, above, ir_build_int_like(b, x, high));
}

ir_value ir_build_convert(ir_builder *b, ir_value x, ir_dtype dtype) {
  ir_type type = ir_type_of(b->m, x);
  if (ir_type_get(b->m, type)->dtype == dtype) return x;
  type = ir_tensor_with_dtype(b->m, type, dtype);
  return ir_build(b, IR_OP_CONVERT, 1, &x, type, 0, NULL);
}

ir_value ir_build_constant(ir_builder *b, ir_type type, const void *element) {
  ir_named_attr value = ir_property(b->m, "value", ir_attr_dense(b->m, type, element, true));
  return ir_build(b, IR_OP_CONSTANT, 0, NULL, type, 1, &value);
}

ir_value ir_build_int_like(ir_builder *b, ir_value like, int64_t value) {
  return ir_build_splat_int(b, ir_type_of(b->m, like), value);
}

ir_value ir_build_int(ir_builder *b, int64_t value) {
  return ir_build_splat_int(b, ir_scalar(b->m, IR_I64), value);
}

ir_value ir_build_splat_real(ir_builder *b, ir_type type, double value) {
  char cell[16] = {0};
  ir_dtype dtype = ir_type_get(b->m, type)->dtype, real = ir_real_dtype(dtype);
  CTX_CHECK(b->m->ctx, ir_is_float(real));
  uint64_t bits = ir_float_bits(real, value);
  memcpy(cell, &bits, sizeof bits); /* little-endian */
  return ir_build_constant(b, type, cell);
}

ir_value ir_build_splat_int(ir_builder *b, ir_type type, int64_t value) {
  ir_dtype dtype = ir_type_get(b->m, type)->dtype;
  ir_dtype_class cls = ir_dtype_class_of(dtype);
  if (cls == IR_CLASS_FLOAT || cls == IR_CLASS_COMPLEX)
    return ir_build_splat_real(b, type, (double)value);
  return ir_build_constant(b, type, &value); /* little-endian: the low bytes come first */
}

ir_value ir_build_neutral_of_sum(ir_builder *b, ir_type type) {
  ir_dtype dtype = ir_type_get(b->m, type)->dtype;
  bool is_complex = ir_is_complex(dtype);
  if (!is_complex && !ir_is_float(dtype)) return ir_build_splat_int(b, type, 0);
  int64_t bytes = ir_dtype_bytes(dtype), part = is_complex ? bytes / 2 : bytes;
  char cell[16] = {0};
  for (int64_t end = part; end <= bytes; end += part) cell[end - 1] = (char)0x80;
  return ir_build_constant(b, type, cell);
}

ir_value ir_build_iota(ir_builder *b, ir_type type, int64_t dim) {
  ir_named_attr attr = ir_property(b->m, "iota_dimension", ir_attr_int(b->m, dim, IR_I64));
  return ir_build(b, IR_OP_IOTA, 0, NULL, type, 1, &attr);
}

ir_value ir_build_broadcast(ir_builder *b, ir_value x, ir_type type, const int64_t *dims) {
  ir_named_attr attr = ir_property(b->m, "broadcast_dimensions",
                                   ir_attr_i64s(b->m, dims, ir_type_at(b->m, x)->rank));
  return ir_build(b, IR_OP_BROADCAST_IN_DIM, 1, &x, type, 1, &attr);
}

ir_value ir_build_zeros(ir_builder *b, ir_type type) {
  static const char zero[16];
  ir_type scalar = ir_scalar(b->m, ir_type_get(b->m, type)->dtype);
  return ir_build_broadcast(b, ir_build_constant(b, scalar, zero), type, NULL);
}

ir_value ir_build_transpose(ir_builder *b, ir_value x, const int64_t *permutation) {
  ir_module *m = b->m;
  const ir_type_data *t = ir_type_at(m, x);
  int64_t dims[IR_MAX_RANK];
  bool moves = false;
  for (int32_t i = 0; i < t->rank; i++) {
    CTX_CHECK(m->ctx, permutation[i] >= 0 && permutation[i] < t->rank);
    dims[i] = t->dims[permutation[i]];
    moves |= permutation[i] != i;
  }
  if (!moves) return x;
  int32_t rank = t->rank;
  ir_type type = ir_tensor(m, t->dtype, rank, dims);
  ir_named_attr attr = ir_property(m, "permutation", ir_attr_i64s(m, permutation, rank));
  return ir_build(b, IR_OP_TRANSPOSE, 1, &x, type, 1, &attr);
}

ir_value ir_build_reshape(ir_builder *b, ir_value x, ir_type type) {
  if (ir_type_of(b->m, x) == type) return x;
  return ir_build(b, IR_OP_RESHAPE, 1, &x, type, 0, NULL);
}

ir_value ir_build_along(ir_builder *b, ir_value x, ir_type type, int64_t dim) {
  int64_t others[IR_MAX_RANK];
  for (int32_t i = 0, n = 0; i < ir_type_get(b->m, type)->rank; i++)
    if (i != dim) others[n++] = i;
  x = ir_build_reshape(b, x, ir_tensor_without_dim(b->m, type, dim));
  return ir_build_broadcast(b, x, type, others);
}

ir_value ir_build_dynamic_slice(ir_builder *b, ir_value x, const ir_value *starts,
                                const int64_t *sizes) {
  const ir_type_data *t = ir_type_at(b->m, x);
  ir_value operands[IR_MAX_RANK + 1] = {x};
  int32_t rank = t->rank;
  for (int32_t i = 0; i < rank; i++) operands[i + 1] = starts[i];
  ir_type type = ir_tensor(b->m, t->dtype, rank, sizes);
  ir_named_attr attr = ir_property(b->m, "slice_sizes", ir_attr_i64s(b->m, sizes, rank));
  return ir_build(b, IR_OP_DYNAMIC_SLICE, (uint32_t)rank + 1, operands, type, 1, &attr);
}

ir_value ir_build_dynamic_update_slice(ir_builder *b, ir_value x, ir_value update,
                                       const ir_value *starts) {
  int32_t rank = ir_type_at(b->m, x)->rank;
  ir_value operands[IR_MAX_RANK + 2] = {x, update};
  for (int32_t i = 0; i < rank; i++) operands[i + 2] = starts[i];
  return ir_build(b, IR_OP_DYNAMIC_UPDATE_SLICE, (uint32_t)rank + 2, operands, ir_type_of(b->m, x),
                  0, NULL);
}

static void starts_along(ir_builder *b, ir_value x, int64_t dim, ir_value at, ir_value *out) {
  ir_value zero = ir_build_int_like(b, at, 0);
  int32_t rank = ir_type_at(b->m, x)->rank;
  CTX_CHECK(b->m->ctx, dim >= 0 && dim < rank);
  for (int32_t i = 0; i < rank; i++) out[i] = i == dim ? at : zero;
}

ir_value ir_build_part(ir_builder *b, ir_value x, int64_t dim, ir_value at, int64_t length) {
  ir_value starts[IR_MAX_RANK];
  ir_type type = ir_tensor_with_dim(b->m, ir_type_of(b->m, x), (int32_t)dim, length);
  starts_along(b, x, dim, at, starts);
  return ir_build_dynamic_slice(b, x, starts, ir_type_get(b->m, type)->dims);
}

ir_value ir_build_with_part(ir_builder *b, ir_value x, ir_value part, int64_t dim, ir_value at) {
  ir_value starts[IR_MAX_RANK];
  starts_along(b, x, dim, at, starts);
  return ir_build_dynamic_update_slice(b, x, part, starts);
}

ir_value ir_build_stacked_at(ir_builder *b, ir_value stack, ir_value at, ir_type type) {
  return ir_build_reshape(b, ir_build_part(b, stack, 0, at, 1), type);
}

ir_value ir_build_with_stacked(ir_builder *b, ir_value stack, ir_value v, ir_value at) {
  ir_value part = ir_build_reshape(b, v, ir_tensor_stacked(b->m, ir_type_of(b->m, v), 1));
  return ir_build_with_part(b, stack, part, 0, at);
}

ir_value ir_build_slice(ir_builder *b, ir_value x, const int64_t *start, const int64_t *limit,
                        const int64_t *strides) {
  ir_module *m = b->m;
  const ir_type_data *t = ir_type_at(m, x);
  int64_t dims[IR_MAX_RANK];
  int32_t rank = t->rank;
  for (int32_t i = 0; i < rank; i++) dims[i] = (limit[i] - start[i] + strides[i] - 1) / strides[i];
  ir_type type = ir_tensor(m, t->dtype, rank, dims);
  ir_named_attr attrs[] = {ir_property(m, "limit_indices", ir_attr_i64s(m, limit, rank)),
                           ir_property(m, "start_indices", ir_attr_i64s(m, start, rank)),
                           ir_property(m, "strides", ir_attr_i64s(m, strides, rank))};
  return ir_build(b, IR_OP_SLICE, 1, &x, type, 3, attrs);
}

ir_value ir_build_slice_dim(ir_builder *b, ir_value x, int64_t dim, int64_t at, int64_t length) {
  const ir_type_data *t = ir_type_at(b->m, x);
  int64_t start[IR_MAX_RANK], limit[IR_MAX_RANK], strides[IR_MAX_RANK];
  for (int32_t i = 0; i < t->rank; i++) {
    start[i] = i == dim ? at : 0;
    limit[i] = i == dim ? at + length : t->dims[i];
    strides[i] = 1;
  }
  return ir_build_slice(b, x, start, limit, strides);
}

ir_value ir_build_pad_with_gaps(ir_builder *b, ir_value x, ir_value fill, const int64_t *low,
                                const int64_t *high, const int64_t *gaps) {
  ir_module *m = b->m;
  const ir_type_data t = *ir_type_at(m, x);
  int64_t dims[IR_MAX_RANK];
  for (int32_t i = 0; i < t.rank; i++)
    dims[i] = low[i] + t.dims[i] + (t.dims[i] ? (t.dims[i] - 1) * gaps[i] : 0) + high[i];
  ir_named_attr attrs[] = {ir_property(m, "edge_padding_high", ir_attr_i64s(m, high, t.rank)),
                           ir_property(m, "edge_padding_low", ir_attr_i64s(m, low, t.rank)),
                           ir_property(m, "interior_padding", ir_attr_i64s(m, gaps, t.rank))};
  return ir_build(b, IR_OP_PAD, 2, (ir_value[]){x, fill}, ir_tensor(m, t.dtype, t.rank, dims), 3,
                  attrs);
}

ir_value ir_build_pad(ir_builder *b, ir_value x, ir_value fill, const int64_t *low,
                      const int64_t *high) {
  static const int64_t none[IR_MAX_RANK];
  return ir_build_pad_with_gaps(b, x, fill, low, high, none);
}

ir_value ir_build_is_diagonal(ir_builder *b, ir_type type, int64_t i, int64_t j) {
  bool is_long = ir_type_get(b->m, type)->dims[i] > INT32_MAX;
  ir_type counts = ir_tensor_with_dtype(b->m, type, is_long ? IR_I64 : IR_I32);
  return ir_build_compare(b, "EQ", ir_build_iota(b, counts, i), ir_build_iota(b, counts, j));
}

ir_value ir_build_gather(ir_builder *b, ir_value x, ir_value indices, ir_type type,
                         const ir_gather_numbers *n, const int64_t *slice_sizes) {
  ir_module *m = b->m;
  ir_attr sizes = ir_attr_i64s(m, slice_sizes, ir_type_at(m, x)->rank);
  ir_named_attr attrs[] = {ir_property(m, "dimension_numbers", ir_gather_dims_attr(m, n)),
                           ir_property(m, "slice_sizes", sizes)};
  return ir_build(b, IR_OP_GATHER, 2, (ir_value[]){x, indices}, type, 2, attrs);
}

ir_op ir_build_scatter(ir_builder *b, ir_value x, ir_value indices, ir_value updates,
                       const ir_gather_numbers *n) {
  ir_type type = ir_type_of(b->m, x);
  ir_named_attr attr =
      ir_property(b->m, "scatter_dimension_numbers", ir_scatter_dims_attr(b->m, n));
  return ir_build_op(b, IR_OP_SCATTER, 3, (ir_value[]){x, indices, updates}, 1, &type, 1, &attr, 1);
}

static ir_ints all_but(int32_t rank, int64_t dim, int64_t *out) {
  return ir_ints_without((ir_ints){rank, ir_all_dims}, dim, out);
}

ir_value ir_build_take_along(ir_builder *b, ir_value x, ir_value positions, int64_t dim) {
  ir_type type =
      ir_tensor_with_dtype(b->m, ir_type_of(b->m, positions), ir_type_at(b->m, x)->dtype);
  int64_t sizes[IR_MAX_RANK], others[IR_MAX_RANK];
  int32_t rank = ir_type_get(b->m, type)->rank;
  ir_ints batch = all_but(rank, dim, others);
  for (int32_t i = 0; i < rank; i++) sizes[i] = 1;
  ir_gather_numbers n = {.collapsed_slice_dims = {1, &dim},
                         .operand_batching_dims = batch,
                         .start_indices_batching_dims = batch,
                         .start_index_map = {1, &dim},
                         .index_vector_dim = rank};
  return ir_build_gather(b, x, positions, type, &n, sizes);
}

ir_gather_numbers ir_numbers_of_rows(int32_t rank, const int64_t *dim, int64_t *out_others) {
  return (ir_gather_numbers){.offset_dims = all_but(rank, *dim, out_others),
                             .collapsed_slice_dims = {1, dim},
                             .start_index_map = {1, dim},
                             .index_vector_dim = 1};
}

ir_value ir_build_rows(ir_builder *b, ir_value x, int64_t dim, ir_value at) {
  int64_t others[IR_MAX_RANK];
  ir_type one = ir_tensor_with_dim(b->m, ir_type_of(b->m, x), (int32_t)dim, 1),
          type = ir_tensor_with_dim(b->m, one, (int32_t)dim, ir_type_at(b->m, at)->dims[0]);
  ir_gather_numbers n = ir_numbers_of_rows(ir_type_get(b->m, one)->rank, &dim, others);
  return ir_build_gather(b, x, at, type, &n, ir_type_get(b->m, one)->dims);
}

void ir_build_reducer(ir_builder *b, ir_op op, ir_kind kind, ir_dtype dtype) {
  ir_block body = ir_region_block(b->m, op, 0);
  ir_type scalar = ir_scalar(b->m, dtype);
  ir_value x = ir_block_arg(b->m, body, scalar), y = ir_block_arg(b->m, body, scalar);
  ir_builder inner = {b->m, body, b->location};
  ir_value sum = ir_build_binary(&inner, kind, x, y);
  ir_build_return(&inner, IR_OP_RETURN, &sum, 1);
}

ir_value ir_build_reduce(ir_builder *b, ir_kind kind, ir_value x, ir_value init,
                         const int64_t *dims, int32_t count) {
  ir_module *m = b->m;
  const ir_type_data *t = ir_type_at(m, x);
  ir_dtype dtype = t->dtype;
  int64_t kept[IR_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0, i = 0; d < t->rank; d++) {
    if (i < count && dims[i] == d) i++;
    else kept[rank++] = t->dims[d];
  }
  CTX_CHECK(m->ctx, rank == t->rank - count); /* ascending, each once */
  ir_type type = ir_tensor(m, dtype, rank, kept);
  ir_named_attr attr = ir_property(m, "dimensions", ir_attr_i64s(m, dims, count));
  ir_op op = ir_build_op(b, IR_OP_REDUCE, 2, (ir_value[]){x, init}, 1, &type, 1, &attr, 1);
  ir_build_reducer(b, op, kind, dtype);
  return ir_result(m, op, 0);
}

const int64_t ir_all_dims[IR_MAX_RANK] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

ir_value ir_build_sum(ir_builder *b, ir_value x, const int64_t *dims, int32_t count) {
  if (!count) return x;
  ir_type scalar = ir_scalar(b->m, ir_type_at(b->m, x)->dtype);
  ir_value zero = ir_build_splat_int(b, scalar, 0);
  return ir_build_reduce(b, IR_OP_ADD, x, zero, dims, count);
}

ir_value ir_build_concatenate(ir_builder *b, const ir_value *xs, uint32_t count, int64_t dim) {
  int64_t size = 0;
  for (uint32_t i = 0; i < count; i++) size += ir_type_at(b->m, xs[i])->dims[dim];
  ir_type type = ir_tensor_with_dim(b->m, ir_type_of(b->m, xs[0]), (int32_t)dim, size);
  ir_named_attr attr = ir_property(b->m, "dimension", ir_attr_int(b->m, dim, IR_I64));
  return ir_build(b, IR_OP_CONCATENATE, count, xs, type, 1, &attr);
}

ir_op ir_build_ffi_call(ir_builder *b, const char *target, const ir_value *operands,
                        uint32_t n_operands, const ir_type *results, uint32_t n_results,
                        const ir_text_entry *entries, uint32_t n_entries) {
  ir_module *m = b->m;
  ir_named_attr *config = ARENA_ARRAY(m->arena, ir_named_attr, n_entries);
  for (uint32_t i = 0; i < n_entries; i++)
    config[i] = (ir_named_attr){.name = ir_intern_string(m, entries[i].name),
                                .value = ir_attr_string(m, entries[i].text)};
  ir_attr dict = ir_attr_new(
      m, &(ir_attr_data){.kind = IR_ATTR_DICT, .entries = config, .count = (int32_t)n_entries});
  ir_named_attr attrs[] = {ir_property(m, "api_version", ir_attr_int(m, 4, IR_I32)),
                           ir_property(m, "backend_config", dict),
                           ir_property(m, "call_target_name", ir_attr_string(m, target))};
  return ir_build_op(b, IR_OP_CUSTOM_CALL, n_operands, operands, n_results, results, 3, attrs, 0);
}

ir_value ir_build_by_rows(ir_builder *b, ir_value x) {
  ir_module *m = b->m;
  ir_type type = ir_type_of(m, x);
  int64_t rank = ir_type_get(m, type)->rank, minor_to_major[IR_MAX_RANK];
  CTX_CHECK(m->ctx, rank >= 2);
  for (int64_t i = 0; i < rank; i++) minor_to_major[i] = rank - 1 - i;
  ir_attr layout = ir_attr_dense(m, ir_tensor(m, IR_INDEX, 1, &rank), minor_to_major, false);
  ir_attr layouts =
      ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_ARRAY, .items = &layout, .count = 1});
  ir_named_attr attrs[] = {
      ir_property(m, "api_version", ir_attr_int(m, 1, IR_I32)),
      ir_property(m, "call_target_name", ir_attr_string(m, "LayoutConstraint")),
      ir_property(m, "operand_layouts", layouts), ir_property(m, "result_layouts", layouts)};
  return ir_build(b, IR_OP_CUSTOM_CALL, 1, &x, type, 4, attrs);
}

ir_op ir_build_function(ir_module *m, const char *name, const ir_type *types, uint32_t n_arguments,
                        uint32_t n_results) {
  ir_block top = ir_top(m);
  ir_type type = ir_type_intern(m, &(ir_type_data){.kind = IR_TYPE_FUNCTION,
                                                   .types = types,
                                                   .n_types = (int32_t)n_arguments,
                                                   .n_results = (int32_t)n_results});
  ir_named_attr attrs[] = {
      ir_property(m, "function_type",
                  ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_TYPE, .type = type})),
      ir_property(m, "sym_name", ir_attr_string(m, name))};
  ir_op f = ir_build_op(&(ir_builder){m, top, IR_NONE}, IR_OP_FUNC, 0, NULL, 0, NULL, 2, attrs, 1);
  ir_block body = ir_region_block(m, f, 0);
  for (uint32_t i = 0; i < n_arguments; i++) ir_block_arg(m, body, types[i]);
  return f;
}

static void put_type(strbuf *name, const ir_type_data *t) {
  strbuf_puts(name, ".");
  for (int32_t i = 0; i < t->rank; i++) strbuf_printf(name, "%lldx", (long long)t->dims[i]);
  strbuf_puts(name, ir_dtype_name(t->dtype));
}

/* A private function that returns the first of its arguments; one for their types. */
static const char *first_of(ir_module *m, const ir_type *types, uint32_t n) {
  ir_type all[] = {types[0], types[n - 1], types[0]};
  strbuf name = strbuf_make(m->arena);
  strbuf_puts(&name, "weir.keep");
  for (uint32_t i = 0; i < n; i++) put_type(&name, ir_type_get(m, types[i]));
  if (ir_find_function(m, name.text)) return name.text;
  all[n] = types[0];
  ir_op f = ir_build_function(m, name.text, all, n, 1);
  ir_op_set_attr(m, f, "sym_visibility", ir_attr_string(m, "private"), true);
  ir_block body = ir_body(m, f);
  ir_builder b = {m, body, IR_NONE};
  ir_build_return(&b, IR_OP_FUNC_RETURN, ir_block_get(m, body)->args.at, 1);
  return name.text;
}

static ir_value build_first_of(ir_builder *b, const ir_value *values, uint32_t n) {
  ir_module *m = b->m;
  ir_type types[] = {ir_type_of(m, values[0]), ir_type_of(m, values[n - 1])};
  ir_str callee = ir_intern_string(m, first_of(m, types, n));
  ir_named_attr no = {ir_intern_string(m, "inlineable"), ir_attr_string(m, "false"), false};
  ir_attr frontend =
      ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_DICT, .entries = &no, .count = 1});
  ir_named_attr attrs[] = {
      ir_property(m, "callee",
                  ir_attr_new(m, &(ir_attr_data){.kind = IR_ATTR_SYMBOL, .text = callee})),
      {ir_intern_string(m, "mhlo.frontend_attributes"), frontend, false}};
  return ir_build(b, IR_OP_CALL, n, values, types[0], 2, attrs);
}

ir_value ir_build_kept(ir_builder *b, ir_value x) { return build_first_of(b, &x, 1); }

ir_value ir_build_after(ir_builder *b, ir_value x, ir_value other) {
  return build_first_of(b, (ir_value[]){x, other}, 2);
}

ir_value ir_build_barrier(ir_builder *b, ir_value x) {
  return ir_build(b, IR_OP_OPTIMIZATION_BARRIER, 1, &x, ir_type_of(b->m, x), 0, NULL);
}

void ir_build_return(ir_builder *b, ir_kind kind, const ir_value *values, uint32_t count) {
  ir_build_op(b, kind, count, values, 0, NULL, 0, NULL, 0);
}

ir_op ir_build_again(ir_builder *b, ir_op op, const ir_value *operands, const ir_type *types) {
  ir_op_desc desc = ir_op_desc_of(b->m, op);
  desc.operands = operands;
  desc.result_types = types;
  ir_op again = ir_op_new(b->m, b->block, &desc);
  ir_copy_regions(b->m, op, again);
  return again;
}

ir_op ir_build_while(ir_builder *b, const ir_value *init, uint32_t count) {
  ir_module *m = b->m;
  const ir_type *types = ir_types_of(m->arena, m, init, count);
  ir_op loop = ir_build_op(b, IR_OP_WHILE, count, init, count, types, 0, NULL, 2);
  for (uint32_t r = 0; r < 2; r++) {
    ir_block block = ir_region_block(m, loop, r);
    for (uint32_t i = 0; i < count; i++) ir_block_arg(m, block, types[i]);
  }
  return loop;
}

static void change_operands(ir_module *m, ir_op op, const bool *keep, const ir_value *more,
                            uint32_t n) {
  ir_values all = {0};
  ir_op_data *d = ir_op_get(m, op);
  ir_keep_operands(m, op, keep);
  for (uint32_t i = 0; i < d->n_operands; i++) VEC_PUSH(m->arena, &all, d->operands[i]);
  for (uint32_t k = 0; k < n; k++) VEC_PUSH(m->arena, &all, more[k]);
  d->operands = all.at;
  d->n_operands = all.count;
}

ir_op ir_build_while_with(ir_builder *b, ir_op loop, uint32_t gone, const ir_value *more,
                          uint32_t n, ir_map *map) {
  ir_module *m = b->m;
  const ir_op_data old = *ir_op_get(m, loop);
  bool *keep = ARENA_ARRAY(m->arena, bool, old.n_operands);
  CTX_CHECK(m->ctx, old.kind == IR_OP_WHILE && !old.n_attrs);
  for (uint32_t i = 0; i < old.n_operands; i++) keep[i] = i != gone;
  for (uint32_t r = 0; r < 2; r++) {
    ir_keep_arguments(m, old.regions[r], keep);
    for (uint32_t k = 0; k < n; k++) ir_block_arg(m, old.regions[r], ir_type_of(m, more[k]));
  }
  const ir_block_data *body = ir_block_get(m, old.regions[1]);
  change_operands(m, ir_terminator(m, old.regions[1]), keep, VEC_END(body->args) - n, n);
  change_operands(m, loop, keep, more, n);
  const ir_op_data now = *ir_op_get(m, loop);
  const ir_type *types = ir_types_of(m->arena, m, now.operands, now.n_operands);
  ir_op made =
      ir_build_op(b, IR_OP_WHILE, now.n_operands, now.operands, now.n_operands, types, 0, NULL, 2);
  for (uint32_t r = 0; r < 2; r++) ir_region_set(m, made, r, old.regions[r]);
  for (uint32_t i = 0, k = 0; i < old.n_results; i++)
    if (keep[i]) ir_map_set(map, old.first_result + i, ir_result(m, made, k++));
  return made;
}

static void end_condition(ir_builder *b, ir_value counter, ir_value end) {
  ir_value more = ir_build_compare(b, "LT", counter, end);
  ir_build_return(b, IR_OP_RETURN, &more, 1);
}

void ir_build_while_below(ir_module *m, ir_op loop, int64_t trips) {
  ir_builder b = {m, ir_body(m, loop), ir_op_get(m, loop)->location};
  ir_value counter = ir_argument(m, b.block, 0);
  end_condition(&b, counter, ir_build_int_like(&b, counter, trips));
}

void ir_build_while_less(ir_module *m, ir_op loop, uint32_t counter, uint32_t end) {
  ir_builder b = {m, ir_body(m, loop), ir_op_get(m, loop)->location};
  end_condition(&b, ir_argument(m, b.block, counter), ir_argument(m, b.block, end));
}
