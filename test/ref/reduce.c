/* Reductions over regions: reduce, reduce_window, select_and_scatter, map. The initial value is
 * folded once, elements come in row-major order. Where the body is a single sum or product of
 * floats, the partial results stay in double and are rounded once; any other body is run as it
 * stands. */
#include "ref/eval.h"

/* ---- regions on scalars ---- */
enum { CALLS_PER_ARENA = 64 };

static ir_dtype wide_dtype(ir_kind kind, ir_dtype dtype) {
  if (kind != IR_OP_ADD && kind != IR_OP_MULTIPLY) return dtype;
  ir_dtype_class cls = ir_dtype_class_of(dtype);
  return cls == IR_CLASS_FLOAT ? IR_F64 : cls == IR_CLASS_COMPLEX ? IR_C128 : dtype;
}

void ref_reducer_init(ref_reducer *r, ref_frame *f, ir_block block) {
  const ir_block_data *b = ir_block_get(f->m, block);
  *r = (ref_reducer){.f = f,
                     .block = block,
                     .n_args = b->args.count,
                     .n_results = ref_n_returned(f, block),
                     .kind = ir_reducer_kind(f->m, block)};
  r->cells = ARENA_ARRAY(f->arena, ref_tensor, r->n_args);
  for (uint32_t i = 0; i < r->n_args; i++)
    r->cells[i] = ref_tensor_new(f->arena, ir_type_at(f->m, b->args.at[i])->dtype, 0, NULL);
  CTX_CHECK(f->ctx, !r->kind || (r->n_args == 2 && r->n_results == 1));
  if (r->kind) r->dtype = wide_dtype(r->kind, r->cells[0].dtype);
}

void ref_reducer_deinit(ref_reducer *r) {
  arena_destroy(r->scratch);
  r->scratch = NULL;
}

weir_status ref_reducer_call(ref_reducer *r, const ref_scalar *args, ref_scalar *out) {
  ref_frame *f = r->f;
  if (r->kind) return *out = ref_binary_scalar(r->kind, r->dtype, args[0], args[1]), WEIR_OK;
  if (r->calls++ % CALLS_PER_ARENA == 0) {
    arena_destroy(r->scratch);
    r->scratch = arena_create(f->ctx);
  }
  for (uint32_t i = 0; i < r->n_args; i++) ref_store(&r->cells[i], 0, args[i]);
  arena *outer = f->arena;
  f->arena = r->scratch;
  ref_tensor *results = ARENA_ARRAY(f->arena, ref_tensor, r->n_results);
  weir_status status = ref_run_block(f, r->block, r->cells, results);
  f->arena = outer;
  for (uint32_t i = 0; status == WEIR_OK && i < r->n_results; i++)
    out[i] = ref_load(&results[i], 0);
  return status;
}

/* ---- what the ops below share: n operands as scalars, n accumulators a result element, one
 * reducer of 2n arguments ---- */
typedef struct reduction {
  ref_reducer reducer;
  uint32_t n;
  const ref_tensor *shape; /* the first operand's */
  ref_scalar **in, **acc;  /* [operand][element], [result][element] */
  ref_scalar *args, *results;
} reduction;

static void reduction_init(reduction *r, ref_frame *f, ir_op op, uint32_t n, ir_block body,
                           int64_t n_out) {
  *r = (reduction){.n = n, .shape = ref_operand(f, op, 0)};
  ref_reducer_init(&r->reducer, f, body);
  CTX_CHECK(f->ctx, r->reducer.n_args == 2 * n && r->reducer.n_results == n);
  r->in = ARENA_ARRAY(f->arena, ref_scalar *, n);
  r->acc = ARENA_ARRAY(f->arena, ref_scalar *, n);
  r->args = ARENA_ARRAY(f->arena, ref_scalar, 2 * n);
  r->results = ARENA_ARRAY(f->arena, ref_scalar, n);
  for (uint32_t k = 0; k < n; k++) {
    r->in[k] = ref_unpack(f->arena, ref_operand(f, op, k));
    r->acc[k] = ARENA_ARRAY(f->arena, ref_scalar, (size_t)n_out);
    ref_scalar init = ref_load(ref_operand(f, op, n + k), 0);
    for (int64_t i = 0; i < n_out; i++) r->acc[k][i] = init;
  }
}

/* acc[to] = body(acc[to], in[from]) */
static weir_status reduction_step(reduction *r, int64_t to, int64_t from) {
  for (uint32_t k = 0; k < r->n; k++)
    r->args[k] = r->acc[k][to], r->args[r->n + k] = r->in[k][from];
  WEIR_TRY(ref_reducer_call(&r->reducer, r->args, r->results));
  for (uint32_t k = 0; k < r->n; k++) r->acc[k][to] = r->results[k];
  return WEIR_OK;
}

static weir_status reduction_finish(reduction *r, ref_frame *f, ir_op op, weir_status status) {
  ref_reducer_deinit(&r->reducer);
  for (uint32_t k = 0; status == WEIR_OK && k < r->n; k++)
    ref_pack(ref_result(f, op, k), r->acc[k]);
  return status;
}

/* ---- reduce ---- */
static weir_status reduce_all(reduction *r, ir_ints dims) {
  const ref_tensor *x = r->shape;
  int64_t index[IR_MAX_RANK] = {0};
  for (int64_t i = 0, n = ref_element_count(x); i < n; i++, ref_next(x->rank, x->dims, index)) {
    int64_t to = 0;
    for (int32_t d = 0; d < x->rank; d++)
      if (!ir_ints_have(dims, d)) to = to * x->dims[d] + index[d];
    WEIR_TRY(reduction_step(r, to, i));
  }
  return WEIR_OK;
}

weir_status ref_reduce(ref_frame *f, ir_op op) {
  ir_ints dims;
  if (!ref_ints_any(f, op, "dimensions", &dims))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "dimensions does not read");
  reduction r;
  reduction_init(&r, f, op, ref_n_results(f, op), ref_region(f, op, 0),
                 ir_element_count(f->m, ir_type_of(f->m, ir_result(f->m, op, 0))));
  return reduction_finish(&r, f, op, reduce_all(&r, dims));
}

/* ---- windows ---- */
typedef struct window {
  ir_ints sizes, strides, base_dilations, dilations, padding; /* padding: (low, high) pairs */
} window;

static weir_status read_window(ref_frame *f, ir_op op, int32_t rank, window *w) {
  WEIR_TRY(ref_read_ints(f, op, "window_dimensions", rank, 1, &w->sizes));
  WEIR_TRY(ref_read_ints(f, op, "window_strides", rank, 1, &w->strides));
  WEIR_TRY(ref_read_ints(f, op, "base_dilations", rank, 1, &w->base_dilations));
  WEIR_TRY(ref_read_ints(f, op, "window_dilations", rank, 1, &w->dilations));
  return ref_read_ints(f, op, "padding", 2 * rank, 0, &w->padding);
}

/* The element of x under position `at` of the window that stands at `out`; -1 in the padding and in
 * the holes of a dilated base. */
static int64_t window_element(const window *w, const ref_tensor *x, const int64_t *out,
                              const int64_t *at) {
  int64_t from[IR_MAX_RANK];
  for (int32_t d = 0; d < x->rank; d++) {
    int64_t p = out[d] * w->strides.at[d] + at[d] * w->dilations.at[d] - w->padding.at[2 * d];
    if (p < 0 || p % w->base_dilations.at[d]) return -1;
    from[d] = p / w->base_dilations.at[d];
  }
  return ref_in_bounds(x, from) ? ref_offset(x, from) : -1;
}

static int64_t window_count(const window *w) {
  int64_t count = 1;
  for (int32_t d = 0; d < w->sizes.count; d++) count *= w->sizes.at[d];
  return count;
}

static weir_status reduce_windows(reduction *r, const window *w, const ir_type_data *out) {
  int64_t index[IR_MAX_RANK] = {0}, n_out = 1, n_window = window_count(w);
  CTX_CHECK(r->reducer.f->ctx, out->rank == w->sizes.count);
  for (int32_t d = 0; d < out->rank; d++) n_out *= out->dims[d];
  for (int64_t i = 0; i < n_out; i++, ref_next(out->rank, out->dims, index)) {
    int64_t at[IR_MAX_RANK] = {0};
    for (int64_t k = 0; k < n_window; k++, ref_next(out->rank, w->sizes.at, at)) {
      int64_t from = window_element(w, r->shape, index, at);
      if (from >= 0) WEIR_TRY(reduction_step(r, i, from));
    }
  }
  return WEIR_OK;
}

weir_status ref_reduce_window(ref_frame *f, ir_op op) {
  window w;
  ir_type out = ir_type_of(f->m, ir_result(f->m, op, 0));
  WEIR_TRY(read_window(f, op, ref_operand(f, op, 0)->rank, &w));
  reduction r;
  reduction_init(&r, f, op, ref_n_results(f, op), ref_region(f, op, 0),
                 ir_element_count(f->m, out));
  return reduction_finish(&r, f, op, reduce_windows(&r, &w, ir_type_get(f->m, out)));
}

/* ---- select_and_scatter ---- */
/* The window's chosen element: the running choice stays while select(choice, candidate) holds. -1
 * if the window has none. */
static weir_status choose(ref_reducer *select, const window *w, const ref_tensor *x,
                          const ref_scalar *in, const int64_t *out, int64_t *chosen) {
  int64_t at[IR_MAX_RANK] = {0}, n = window_count(w);
  *chosen = -1;
  for (int64_t k = 0; k < n; k++, ref_next(x->rank, w->sizes.at, at)) {
    int64_t from = window_element(w, x, out, at);
    if (from < 0) continue;
    ref_scalar keep = {.i = 0};
    if (*chosen >= 0)
      WEIR_TRY(ref_reducer_call(select, (ref_scalar[]){in[*chosen], in[from]}, &keep));
    if (!keep.i) *chosen = from;
  }
  return WEIR_OK;
}

static weir_status scatter_chosen(ref_reducer *select, ref_reducer *scatter, const window *w,
                                  const ref_tensor *x, const ref_tensor *source,
                                  const ref_scalar *in, ref_scalar *acc) {
  int64_t index[IR_MAX_RANK] = {0};
  for (int64_t i = 0, n = ref_element_count(source); i < n;
       i++, ref_next(source->rank, source->dims, index)) {
    int64_t to;
    WEIR_TRY(choose(select, w, x, in, index, &to));
    if (to >= 0)
      WEIR_TRY(ref_reducer_call(scatter, (ref_scalar[]){acc[to], ref_load(source, i)}, &acc[to]));
  }
  return WEIR_OK;
}

weir_status ref_select_and_scatter(ref_frame *f, ir_op op) {
  const ref_tensor *x = ref_operand(f, op, 0), *source = ref_operand(f, op, 1);
  window w;
  WEIR_TRY(read_window(f, op, x->rank, &w));
  ref_reducer select, scatter;
  ref_reducer_init(&select, f, ref_region(f, op, 0));
  ref_reducer_init(&scatter, f, ref_region(f, op, 1));
  CTX_CHECK(f->ctx, select.n_args == 2 && scatter.n_args == 2);
  int64_t n = ref_element_count(x);
  ref_scalar *in = ref_unpack(f->arena, x), *acc = ARENA_ARRAY(f->arena, ref_scalar, (size_t)n);
  for (int64_t i = 0; i < n; i++) acc[i] = ref_load(ref_operand(f, op, 2), 0);
  weir_status status = scatter_chosen(&select, &scatter, &w, x, source, in, acc);
  ref_reducer_deinit(&select);
  ref_reducer_deinit(&scatter);
  if (status == WEIR_OK) ref_pack(ref_result(f, op, 0), acc);
  return status;
}

/* ---- map ---- */
weir_status ref_map(ref_frame *f, ir_op op) {
  uint32_t n = ref_n_operands(f, op);
  ref_scalar *args = ARENA_ARRAY(f->arena, ref_scalar, n), out;
  ref_tensor *y = ref_result(f, op, 0);
  ref_reducer body;
  ref_reducer_init(&body, f, ref_region(f, op, 0));
  CTX_CHECK(f->ctx, body.n_args == n && body.n_results == 1);
  weir_status status = WEIR_OK;
  for (int64_t i = 0, count = ref_element_count(y); status == WEIR_OK && i < count; i++) {
    for (uint32_t k = 0; k < n; k++) args[k] = ref_load(ref_operand(f, op, k), i);
    status = ref_reducer_call(&body, args, &out);
    if (status == WEIR_OK) ref_store(y, i, out);
  }
  ref_reducer_deinit(&body);
  return status;
}
