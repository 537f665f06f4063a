/* Ops that make or move elements without arithmetic. Each loops over the result's (or the
 * operand's) multi-indices and copies one element a step. */
#include "ref/eval.h"

/* ---- leaves ---- */
weir_status ref_constant(ref_frame *f, ir_op op) {
  const ir_attr_data *d = ir_op_attr_of(f->m, op, "value", IR_ATTR_DENSE);
  if (!d) return ref_error(f, op, WEIR_UNIMPLEMENTED, "its value does not read as dense elements");
  ref_tensor *y = ref_result(f, op, 0);
  int64_t n = ref_element_count(y);
  if (!d->splat && ir_element_count(f->m, d->type) != n)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "its value has another shape than its type");
  ref_tensor source = {.dtype = y->dtype, .data = (void *)d->data};
  for (int64_t i = 0; i < n; i++) ref_copy_element(y, i, &source, d->splat ? 0 : i);
  return WEIR_OK;
}

weir_status ref_iota(ref_frame *f, ir_op op) {
  ref_tensor *y = ref_result(f, op, 0);
  int64_t dim = ir_op_int(f->m, op, "iota_dimension", 0), index[IR_MAX_RANK] = {0};
  if (dim < 0 || dim >= y->rank)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "iota_dimension %lld of rank %d", (long long)dim,
                     y->rank);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++, ref_next(y->rank, y->dims, index))
    ref_store(y, i, ref_convert_scalar(IR_I64, y->dtype, (ref_scalar){.i = index[dim]}));
  return WEIR_OK;
}

/* One device, one replica: number 0. */
weir_status ref_partition_id(ref_frame *f, ir_op op) { return ref_result(f, op, 0), WEIR_OK; }
weir_status ref_replica_id(ref_frame *f, ir_op op) { return ref_result(f, op, 0), WEIR_OK; }

weir_status ref_get_dimension_size(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  int64_t dim = ir_op_int(f->m, op, "dimension", -1);
  if (dim < 0 || dim >= x->rank)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "dimension %lld of rank %d", (long long)dim,
                     x->rank);
  ref_store(ref_result(f, op, 0), 0, (ref_scalar){.i = x->dims[dim]});
  return WEIR_OK;
}

/* ---- shape only ---- */
weir_status ref_reshape(ref_frame *f, ir_op op) {
  const ir_type_data *t = ir_type_at(f->m, ir_result(f->m, op, 0));
  ref_tensor y = *ref_operand(f, op, 0);
  y.rank = t->rank, y.dims = t->dims;
  CTX_CHECK(f->ctx, ref_element_count(&y) == ref_element_count(ref_operand(f, op, 0)));
  ref_set_result(f, op, 0, &y);
  return WEIR_OK;
}

/* Element i of the longer-element side is the elements [i * k, (i + 1) * k) of the other, least
 * significant first. */
weir_status ref_bitcast_convert(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  ref_tensor *y = ref_result(f, op, 0);
  int from = ref_bits(x->dtype), to = ref_bits(y->dtype);
  int64_t n = ref_element_count(y);
  if (from == 128 || to == 128) { /* complex<f64>: the plain bytes */
    memcpy(y->data, x->data, (size_t)(n * ir_dtype_bytes(y->dtype)));
    return WEIR_OK;
  }
  int k = from < to ? to / from : from / to;
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits = 0;
    if (from < to)
      for (int j = 0; j < k; j++)
        bits |= ref_pattern(x->dtype, ref_load(x, i * k + j)) << (j * from);
    else bits = ref_pattern(x->dtype, ref_load(x, i / k)) >> (i % k * to);
    ref_store(y, i, ref_from_pattern(y->dtype, bits));
  }
  return WEIR_OK;
}

weir_status ref_broadcast(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  ref_tensor *y = ref_result(f, op, 0);
  CTX_CHECK(f->ctx, ref_element_count(x) || !ref_element_count(y));
  for (int64_t i = 0, n = ref_element_count(y), k = ref_element_count(x); i < n; i++)
    ref_copy_element(y, i, x, i % k);
  return WEIR_OK;
}

/* Where elements of one tensor stand in another: index i of dimension `of` is base + step * i. */
typedef struct places {
  int64_t base[IR_MAX_RANK], step[IR_MAX_RANK];
  int32_t of[IR_MAX_RANK];
} places;

static places same_places(void) {
  places p = {0};
  for (int32_t d = 0; d < IR_MAX_RANK; d++) p.step[d] = 1, p.of[d] = d;
  return p;
}

/* The element of `t` that stands for this one; -1: beyond its ends. */
static int64_t place_of(const ref_tensor *t, const places *p, const int64_t *index) {
  int64_t at[IR_MAX_RANK];
  for (int32_t d = 0; d < t->rank; d++) at[d] = p->base[d] + p->step[d] * index[p->of[d]];
  return ref_in_bounds(t, at) ? ref_offset(t, at) : -1;
}

static weir_status read_from(ref_tensor *y, const ref_tensor *x, const places *p) {
  int64_t index[IR_MAX_RANK] = {0};
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++, ref_next(y->rank, y->dims, index))
    ref_copy_element(y, i, x, place_of(x, p, index));
  return WEIR_OK;
}

static weir_status write_to(ref_tensor *y, const ref_tensor *x, const places *p) {
  int64_t index[IR_MAX_RANK] = {0};
  for (int64_t i = 0, n = ref_element_count(x); i < n; i++, ref_next(x->rank, x->dims, index)) {
    int64_t to = place_of(y, p, index);
    if (to >= 0) ref_copy_element(y, to, x, i);
  }
  return WEIR_OK;
}

weir_status ref_broadcast_in_dim(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  places p = same_places();
  ir_ints dims;
  WEIR_TRY(ref_read_ints(f, op, "broadcast_dimensions", x->rank, 0, &dims));
  for (int32_t d = 0; d < x->rank; d++) {
    p.of[d] = (int32_t)dims.at[d];
    p.step[d] = x->dims[d] != 1;
  }
  return read_from(ref_result(f, op, 0), x, &p);
}

weir_status ref_transpose(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  places p = same_places();
  ir_ints permutation;
  WEIR_TRY(ref_read_ints(f, op, "permutation", x->rank, 0, &permutation));
  for (int32_t d = 0; d < x->rank; d++) p.of[permutation.at[d]] = d;
  return read_from(ref_result(f, op, 0), x, &p);
}

weir_status ref_reverse(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  places p = same_places();
  ir_ints dims;
  if (!ref_ints_any(f, op, "dimensions", &dims))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "dimensions does not read");
  for (int32_t d = 0; d < x->rank; d++)
    if (ir_ints_have(dims, d)) p.base[d] = x->dims[d] - 1, p.step[d] = -1;
  return read_from(ref_result(f, op, 0), x, &p);
}

/* ---- parts and wholes ---- */
weir_status ref_slice(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  places p = same_places();
  ir_ints start, strides;
  WEIR_TRY(ref_read_ints(f, op, "start_indices", x->rank, 0, &start));
  WEIR_TRY(ref_read_ints(f, op, "strides", x->rank, 1, &strides));
  for (int32_t d = 0; d < x->rank; d++) p.base[d] = start.at[d], p.step[d] = strides.at[d];
  return read_from(ref_result(f, op, 0), x, &p);
}

weir_status ref_concatenate(ref_frame *f, ir_op op) {
  int64_t dim = ir_op_int(f->m, op, "dimension", 0);
  places p = same_places();
  ref_tensor *y = ref_result(f, op, 0);
  for (uint32_t k = 0; k < ref_n_operands(f, op); k++) {
    const ref_tensor *x = ref_operand(f, op, k);
    WEIR_TRY(write_to(y, x, &p));
    p.base[dim] += x->dims[dim];
  }
  CTX_CHECK(f->ctx, p.base[dim] == y->dims[dim]);
  return WEIR_OK;
}

/* The padding value everywhere, then each element of x that lands inside. */
weir_status ref_pad(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *value = ref_operand(f, op, 1);
  places p = same_places();
  ir_ints low, interior;
  WEIR_TRY(ref_read_ints(f, op, "edge_padding_low", x->rank, 0, &low));
  WEIR_TRY(ref_read_ints(f, op, "interior_padding", x->rank, 0, &interior));
  for (int32_t d = 0; d < x->rank; d++) p.base[d] = low.at[d], p.step[d] = interior.at[d] + 1;
  ref_tensor *y = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++) ref_copy_element(y, i, value, 0);
  return write_to(y, x, &p);
}

/* Start indices, clamped so that a window of `sizes` fits into x. */
static void read_starts(ref_frame *f, ir_op op, uint32_t first, const ref_tensor *x,
                        const int64_t *sizes, int64_t *out_starts) {
  for (int32_t d = 0; d < x->rank; d++) {
    int64_t start = ref_load_index(ref_operand(f, op, first + (uint32_t)d), 0),
            last = x->dims[d] - sizes[d];
    CTX_CHECK(f->ctx, last >= 0); /* verified: the window is no larger than x */
    out_starts[d] = start < 0 ? 0 : start > last ? last : start;
  }
}

weir_status ref_dynamic_slice(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  places p = same_places();
  ref_tensor *y = ref_result(f, op, 0);
  read_starts(f, op, 1, x, y->dims, p.base);
  return read_from(y, x, &p);
}

weir_status ref_dynamic_update_slice(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *update = ref_operand(f, op, 1);
  places p = same_places();
  ref_tensor *y = ref_result(f, op, 0);
  read_starts(f, op, 2, x, update->dims, p.base);
  memcpy(y->data, x->data, (size_t)(ref_element_count(x) * ir_dtype_bytes(x->dtype)));
  return write_to(y, update, &p);
}
