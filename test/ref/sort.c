/* sort and top-k. Sorts are merge sorts, always stable. top-k takes elements in total order (+NaN
 * above +inf, -0 below +0), equal ones by index. Source: StableHLO and CHLO specifications; XLA's
 * TopK decomposition. */
#include "ref/eval.h"

/* ---- stable merge sort with a comparator that can fail ---- */
static weir_status merge(int64_t *items, int64_t middle, int64_t n, int64_t *scratch,
                         weir_status (*before)(void *, int64_t, int64_t, bool *), void *user) {
  int64_t i = 0, j = middle, k = 0;
  while (i < middle && j < n) {
    bool second = false; /* the second run's item goes first only if it is strictly before */
    WEIR_TRY(before(user, items[j], items[i], &second));
    scratch[k++] = second ? items[j++] : items[i++];
  }
  while (i < middle) scratch[k++] = items[i++];
  memcpy(items, scratch, (size_t)k * sizeof *items);
  return WEIR_OK;
}

static weir_status sort_run(int64_t *items, int64_t n, int64_t *scratch,
                            weir_status (*before)(void *, int64_t, int64_t, bool *), void *user) {
  if (n < 2) return WEIR_OK;
  WEIR_TRY(sort_run(items, n / 2, scratch, before, user));
  WEIR_TRY(sort_run(items + n / 2, n - n / 2, scratch, before, user));
  return merge(items, n / 2, n, scratch, before, user);
}

weir_status ref_merge_sort(int64_t *items, int64_t n, arena *a,
                           weir_status (*before)(void *, int64_t, int64_t, bool *), void *user) {
  return sort_run(items, n, ARENA_ARRAY(a, int64_t, (size_t)n), before, user);
}

/* ---- sort ---- */
typedef struct sorter {
  ref_reducer comparator;
  uint32_t n;
  ref_scalar **in; /* [operand][element] */
  ref_scalar *args;
  int64_t base, stride; /* of the row in hand */
} sorter;

static weir_status row_before(void *user, int64_t a, int64_t b, bool *out) {
  sorter *s = user;
  ref_scalar result;
  for (uint32_t k = 0; k < s->n; k++) {
    s->args[2 * k] = s->in[k][s->base + a * s->stride];
    s->args[2 * k + 1] = s->in[k][s->base + b * s->stride];
  }
  WEIR_TRY(ref_reducer_call(&s->comparator, s->args, &result));
  *out = result.i != 0;
  return WEIR_OK;
}

/* Rows along a dimension start at base(0), base(1), ...; elements are `stride` apart. */
static int64_t row_base(int64_t row, int64_t length, int64_t stride) {
  return row / stride * stride * length + row % stride;
}

static weir_status sort_rows(ref_frame *f, ir_op op, sorter *s, int64_t length) {
  int64_t rows = length ? ref_element_count(ref_operand(f, op, 0)) / length : 0;
  int64_t *order = ARENA_ARRAY(f->arena, int64_t, (size_t)length),
          *scratch = ARENA_ARRAY(f->arena, int64_t, (size_t)length);
  for (int64_t row = 0; row < rows; row++) {
    s->base = row_base(row, length, s->stride);
    for (int64_t i = 0; i < length; i++) order[i] = i;
    WEIR_TRY(sort_run(order, length, scratch, row_before, s));
    for (uint32_t k = 0; k < s->n; k++)
      for (int64_t i = 0; i < length; i++)
        ref_copy_element(&f->values[ir_result(f->m, op, k)], s->base + i * s->stride,
                         ref_operand(f, op, k), s->base + order[i] * s->stride);
  }
  return WEIR_OK;
}

weir_status ref_sort(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  int64_t dim = ir_op_int(f->m, op, "dimension", -1);
  if (dim < 0) dim += x->rank;
  if (dim < 0 || dim >= x->rank)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "dimension out of range");
  sorter s = {.n = ref_n_operands(f, op), .stride = 1};
  for (int64_t d = dim + 1; d < x->rank; d++) s.stride *= x->dims[d];
  s.in = ARENA_ARRAY(f->arena, ref_scalar *, s.n);
  s.args = ARENA_ARRAY(f->arena, ref_scalar, 2 * s.n);
  for (uint32_t k = 0; k < s.n; k++) {
    s.in[k] = ref_unpack(f->arena, ref_operand(f, op, k));
    ref_result(f, op, k);
  }
  ref_reducer_init(&s.comparator, f, ref_region(f, op, 0));
  CTX_CHECK(f->ctx, s.comparator.n_args == 2 * s.n && s.comparator.n_results == 1);
  weir_status status = sort_rows(f, op, &s, x->dims[dim]);
  ref_reducer_deinit(&s.comparator);
  return status;
}

/* ---- top-k ---- */
typedef struct ranking {
  const ref_tensor *x;
  int64_t base;
  bool descending;
} ranking;

static weir_status ranks_before(void *user, int64_t a, int64_t b, bool *out) {
  const ranking *r = user;
  ref_scalar x = ref_load(r->x, r->base + a), y = ref_load(r->x, r->base + b);
  *out =
      ref_compare_scalar(r->x->dtype, r->descending ? IR_GT : IR_LT, IR_COMPARE_TOTALORDER, x, y);
  return WEIR_OK;
}

void ref_top_k_rows(ref_frame *f, const ref_tensor *x, bool descending, ref_tensor *values,
                    ref_tensor *indices) {
  int64_t length = x->dims[x->rank - 1], k = values->dims[x->rank - 1],
          rows = length ? ref_element_count(x) / length : 0;
  int64_t *order = ARENA_ARRAY(f->arena, int64_t, (size_t)length),
          *scratch = ARENA_ARRAY(f->arena, int64_t, (size_t)length);
  for (int64_t row = 0; row < rows; row++) {
    ranking r = {x, row * length, descending};
    for (int64_t i = 0; i < length; i++) order[i] = i;
    weir_status never_fails = sort_run(order, length, scratch, ranks_before, &r);
    CTX_CHECK(f->ctx, never_fails == WEIR_OK && k <= length);
    for (int64_t i = 0; i < k; i++) {
      ref_copy_element(values, row * k + i, x, row * length + order[i]);
      ref_store(indices, row * k + i, (ref_scalar){.i = order[i]});
    }
  }
}

weir_status ref_top_k(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0);
  if (x->rank < 1) return ref_error(f, op, WEIR_INVALID_ARGUMENT, "of a scalar");
  ref_tensor *values = ref_result(f, op, 0), *indices = ref_result(f, op, 1);
  ref_top_k_rows(f, x, true, values, indices);
  return WEIR_OK;
}
