/* Control flow and plumbing: calls, branches, loops, tuples, tokens. A trip of a loop runs in an
 * arena of its own; only what it carries survives it. */
#include "ref/eval.h"

/* ---- calls ---- */
static weir_status call_named(ref_frame *f, ir_op op, const char *attribute) {
  uint32_t n = ref_n_operands(f, op), n_out = ref_n_results(f, op);
  ref_tensor *args = ARENA_ARRAY(f->arena, ref_tensor, n),
             *out = ARENA_ARRAY(f->arena, ref_tensor, n_out);
  for (uint32_t i = 0; i < n; i++) args[i] = *ref_operand(f, op, i);
  WEIR_TRY(ref_call_function(f, op, ir_op_string(f->m, op, attribute), args, n, out, n_out));
  for (uint32_t i = 0; i < n_out; i++) ref_set_result(f, op, i, &out[i]);
  return WEIR_OK;
}

weir_status ref_call(ref_frame *f, ir_op op) { return call_named(f, op, "callee"); }
weir_status ref_composite(ref_frame *f, ir_op op) { return call_named(f, op, "decomposition"); }

/* ---- branches ---- */
static weir_status run_branch(ref_frame *f, ir_op op, uint32_t branch) {
  uint32_t n = ref_n_results(f, op);
  CTX_CHECK(f->ctx, branch < ir_op_get(f->m, op)->n_regions);
  ir_block block = ref_region(f, op, branch);
  ref_tensor *out = ARENA_ARRAY(f->arena, ref_tensor, n);
  if (!block || ref_n_returned(f, block) != n)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "branch %u does not return %u values", branch,
                     n);
  WEIR_TRY(ref_run_block_scoped(f, block, NULL, f->arena, out));
  for (uint32_t i = 0; i < n; i++) ref_set_result(f, op, i, &out[i]);
  return WEIR_OK;
}

/* An index out of range takes the last branch. */
weir_status ref_case(ref_frame *f, ir_op op) {
  int64_t branch = ref_load(ref_operand(f, op, 0), 0).i, n = ir_op_get(f->m, op)->n_regions;
  return run_branch(f, op, (uint32_t)(branch < 0 || branch >= n ? n - 1 : branch));
}

weir_status ref_if(ref_frame *f, ir_op op) {
  return run_branch(f, op, ref_load(ref_operand(f, op, 0), 0).i ? 0 : 1);
}

/* ---- while ---- */
static weir_status run_condition(ref_frame *f, ir_op op, const ref_tensor *carry, bool *out) {
  CTX_CHECK(f->ctx, ref_n_returned(f, ref_region(f, op, 0)) == 1);
  arena *keep = arena_create(f->ctx);
  ref_tensor pred;
  weir_status status = ref_run_block_scoped(f, ref_region(f, op, 0), carry, keep, &pred);
  if (status == WEIR_OK) *out = ref_load(&pred, 0).i != 0;
  arena_destroy(keep);
  return status;
}

weir_status ref_while(ref_frame *f, ir_op op) {
  uint32_t n = ref_n_operands(f, op);
  ref_tensor *carry = ARENA_ARRAY(f->arena, ref_tensor, n);
  for (uint32_t i = 0; i < n; i++) carry[i] = *ref_operand(f, op, i);
  CTX_CHECK(f->ctx, ref_n_returned(f, ref_region(f, op, 1)) == n); /* verified: what it carries */
  arena *held = NULL;                                              /* what the carry lives in */
  weir_status status = WEIR_OK;
  for (bool again = true; status == WEIR_OK;) {
    status = run_condition(f, op, carry, &again);
    if (status != WEIR_OK || !again) break;
    arena *next = arena_create(f->ctx);
    status = ref_run_block_scoped(f, ref_region(f, op, 1), carry, next, carry);
    arena_destroy(held);
    held = next;
  }
  for (uint32_t i = 0; status == WEIR_OK && i < n; i++) {
    carry[i] = ref_tensor_copy(f->arena, &carry[i]);
    ref_set_result(f, op, i, &carry[i]);
  }
  arena_destroy(held);
  return status;
}

/* ---- weir.loop: see ops.def and docs/design/reference-evaluator.md ---- */
typedef struct loop {
  int64_t extent, slice;
  ir_ints in_dims, in_units, out_dims, out_units;
  uint32_t n_in, n_carry, n_out;
} loop;

static weir_status read_loop(ref_frame *f, ir_op op, loop *l) {
  ir_ints dims;
  if (!ref_ints_any(f, op, "in_dims", &dims))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "in_dims does not read");
  l->extent = ir_op_int(f->m, op, "extent", -1), l->slice = ir_op_int(f->m, op, "slice", -1);
  l->n_in = (uint32_t)dims.count, l->n_out = ref_n_results(f, op);
  if (l->n_in > ref_n_operands(f, op))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "more in_dims than operands");
  l->n_carry = ref_n_operands(f, op) - l->n_in;
  WEIR_TRY(ref_read_ints(f, op, "in_dims", dims.count, -1, &l->in_dims));
  WEIR_TRY(ref_read_ints(f, op, "in_units", dims.count, 1, &l->in_units));
  WEIR_TRY(ref_read_ints(f, op, "out_dims", (int32_t)l->n_out, -1, &l->out_dims));
  WEIR_TRY(ref_read_ints(f, op, "out_units", (int32_t)l->n_out, 1, &l->out_units));
  if (l->extent < 0 || l->slice < 1 || (l->extent > 0 && l->slice > l->extent))
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "slice %lld of extent %lld", (long long)l->slice,
                     (long long)l->extent);
  return WEIR_OK;
}

/* Copies the part `length` elements long from `part_at` of dimension `dim` of `whole`: to `part`
 * (out of it) or back into it. */
static void copy_part(ref_tensor *whole, ref_tensor *part, int64_t dim, int64_t part_at,
                      bool into_whole) {
  int64_t inner = ir_dtype_bytes(whole->dtype), outer = 1, length = part->dims[dim];
  for (int32_t d = (int32_t)dim + 1; d < whole->rank; d++) inner *= whole->dims[d];
  for (int32_t d = 0; d < dim; d++) outer *= whole->dims[d];
  for (int64_t o = 0; o < outer; o++) {
    char *w = (char *)whole->data + (o * whole->dims[dim] + part_at) * inner,
         *p = (char *)part->data + o * length * inner;
    memcpy(into_whole ? w : p, into_whole ? p : w, (size_t)(length * inner));
  }
}

static weir_status slice_input(ref_frame *f, ir_op op, const loop *l, uint32_t i, int64_t start,
                               ref_tensor *out) {
  ref_tensor whole = *ref_operand(f, op, i);
  int64_t dim = l->in_dims.at[i], unit = l->in_units.at[i], dims[IR_MAX_RANK];
  *out = whole;
  if (dim < 0) return WEIR_OK;
  if (dim >= whole.rank || unit < 1 || whole.dims[dim] < (start + l->slice) * unit)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "input %u does not reach index %lld along dimension %lld", i,
                     (long long)(start + l->slice), (long long)dim);
  for (int32_t d = 0; d < whole.rank; d++) dims[d] = whole.dims[d];
  dims[dim] = l->slice * unit;
  *out = ref_tensor_new(f->arena, whole.dtype, whole.rank, dims);
  copy_part(&whole, out, dim, start * unit, false);
  return WEIR_OK;
}

/* What a trip yields: slices go into the results, carries become the next ones. */
static weir_status take_yield(ref_frame *f, ir_op op, const loop *l, int64_t start,
                              ref_tensor *yielded, ref_tensor *carry) {
  uint32_t c = 0;
  for (uint32_t i = 0; i < l->n_out; i++) {
    int64_t dim = l->out_dims.at[i];
    ref_tensor *whole = &f->values[ir_result(f->m, op, i)];
    if (dim < 0 && c < l->n_carry) carry[c++] = yielded[i];
    else if (dim < 0)
      return ref_error(f, op, WEIR_INVALID_ARGUMENT, "result %u has no initial value", i);
    else if (dim >= whole->rank || yielded[i].dims[dim] != l->slice * l->out_units.at[i] ||
             whole->dims[dim] < start * l->out_units.at[i] + yielded[i].dims[dim])
      return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                       "result %u and its slice do not fit along dimension %lld", i,
                       (long long)dim);
    else copy_part(whole, &yielded[i], dim, start * l->out_units.at[i], true);
  }
  return WEIR_OK;
}

static weir_status run_trip(ref_frame *f, ir_op op, const loop *l, int64_t low, ref_tensor *carry,
                            arena *keep) {
  int64_t start = low < l->extent - l->slice ? low : l->extent - l->slice;
  ir_block body = ref_region(f, op, 0);
  arena *outer = f->arena, *inputs = f->arena = arena_create(f->ctx);
  ref_tensor *args = ARENA_ARRAY(inputs, ref_tensor, 2 + l->n_in + l->n_carry),
             *out = ARENA_ARRAY(inputs, ref_tensor, l->n_out);
  weir_status status = WEIR_OK;
  args[0] = ref_tensor_new(inputs, IR_I64, 0, NULL),
  args[1] = ref_tensor_new(inputs, IR_I64, 0, NULL);
  ref_store(&args[0], 0, (ref_scalar){.i = start}), ref_store(&args[1], 0, (ref_scalar){.i = low});
  for (uint32_t i = 0; status == WEIR_OK && i < l->n_in; i++)
    status = slice_input(f, op, l, i, start, &args[2 + i]);
  for (uint32_t i = 0; i < l->n_carry; i++) args[2 + l->n_in + i] = carry[i];
  if (status == WEIR_OK) status = ref_run_block_scoped(f, body, args, keep, out);
  if (status == WEIR_OK) status = take_yield(f, op, l, start, out, carry);
  arena_destroy(inputs);
  f->arena = outer;
  return status;
}

static weir_status check_body(ref_frame *f, ir_op op, const loop *l) {
  ir_block body = ir_op_get(f->m, op)->n_regions == 1 ? ref_region(f, op, 0) : IR_NONE;
  if (!body || ir_block_get(f->m, body)->args.count != 2 + l->n_in + l->n_carry ||
      ref_n_returned(f, body) != l->n_out)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                     "the body does not take %u arguments or does not yield %u values",
                     2 + l->n_in + l->n_carry, l->n_out);
  return WEIR_OK;
}

weir_status ref_loop(ref_frame *f, ir_op op) {
  loop l;
  WEIR_TRY(read_loop(f, op, &l));
  WEIR_TRY(check_body(f, op, &l));
  ref_tensor *carry = ARENA_ARRAY(f->arena, ref_tensor, l.n_carry);
  for (uint32_t i = 0; i < l.n_carry; i++) carry[i] = *ref_operand(f, op, l.n_in + i);
  for (uint32_t i = 0; i < l.n_out; i++)
    if (l.out_dims.at[i] >= 0) ref_result(f, op, i);
  arena *held = NULL;
  weir_status status = WEIR_OK;
  for (int64_t low = 0; status == WEIR_OK && low < l.extent; low += l.slice) {
    arena *next = arena_create(f->ctx);
    status = run_trip(f, op, &l, low, carry, next);
    arena_destroy(held);
    held = next;
  }
  for (uint32_t i = 0, c = 0; status == WEIR_OK && i < l.n_out; i++) {
    if (l.out_dims.at[i] >= 0) continue;
    if (c == l.n_carry)
      return ref_error(f, op, WEIR_INVALID_ARGUMENT, "result %u has no initial value", i);
    ref_tensor final = ref_tensor_copy(f->arena, &carry[c++]);
    ref_set_result(f, op, i, &final);
  }
  arena_destroy(held);
  return status;
}

/* ---- identities, tuples, tokens ---- */
weir_status ref_barrier(ref_frame *f, ir_op op) {
  for (uint32_t i = 0; i < ref_n_results(f, op); i++)
    ref_set_result(f, op, i, ref_operand(f, op, i));
  return WEIR_OK;
}

weir_status ref_tuple(ref_frame *f, ir_op op) {
  uint32_t n = ref_n_operands(f, op);
  ref_tensor t = {.n_members = n, .members = ARENA_ARRAY(f->arena, ref_tensor, n)};
  for (uint32_t i = 0; i < n; i++) t.members[i] = *ref_operand(f, op, i);
  ref_set_result(f, op, 0, &t);
  return WEIR_OK;
}

weir_status ref_get_tuple_element(ref_frame *f, ir_op op) {
  const ref_tensor *t = ref_operand(f, op, 0);
  int64_t index = ir_op_int(f->m, op, "index", -1);
  if (index < 0 || index >= t->n_members)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "index %lld of %u members", (long long)index,
                     t->n_members);
  ref_set_result(f, op, 0, &t->members[index]);
  return WEIR_OK;
}

weir_status ref_token(ref_frame *f, ir_op op) {
  for (uint32_t i = 0; i < ref_n_results(f, op); i++) ref_set_result(f, op, i, &(ref_tensor){0});
  return WEIR_OK;
}
