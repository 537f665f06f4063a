/* The machine: functions, blocks, dispatch by the op table's eval column, operands and results,
 * attributes. See eval.h. */
#include "ref/eval.h"

#include <stdio.h>

typedef weir_status (*eval_fn)(ref_frame *f, ir_op op);
static const eval_fn evaluators[IR_OP_COUNT] = {
    [IR_OP_UNKNOWN] = ref_none,
#define OP(kind, name, flags, asm_, shape, types, factors, eval, xla, plan, kernel)                \
  [IR_OP_##kind] = ref_##eval,
#include "ir/ops.def"
#undef OP
};

weir_status ref_none(ref_frame *f, ir_op op) {
  return ref_error(f, op, WEIR_UNIMPLEMENTED, "has no reference evaluator");
}

weir_status ref_error(ref_frame *f, ir_op op, weir_status status, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  ir_str location = ir_op_get(f->m, op)->location;
  return ctx_error(f->ctx, status, "%s%s%s: %s", ir_op_name(f->m, op), location ? " at " : "",
                   ir_text(f->m, location), text);
}

/* ---- tensors ---- */
int64_t ref_element_count(const ref_tensor *t) {
  int64_t count = 1;
  for (int32_t d = 0; d < t->rank; d++)
    if (__builtin_mul_overflow(count, t->dims[d], &count)) return INT64_MAX;
  return count;
}

ref_tensor ref_tensor_new(arena *a, ir_dtype dtype, int32_t rank, const int64_t *dims) {
  CTX_CHECK(arena_ctx(a), dtype && 0 <= rank && rank <= IR_MAX_RANK);
  ref_tensor t = {.dtype = dtype, .rank = rank, .dims = ARENA_COPY(a, int64_t, dims, (size_t)rank)};
  t.data = arena_array(a, (size_t)ref_element_count(&t), (size_t)ir_dtype_bytes(dtype));
  return t;
}

ref_tensor ref_tensor_copy(arena *a, const ref_tensor *t) {
  ref_tensor copy = *t;
  if (t->dtype) {
    copy.dims = ARENA_COPY(a, int64_t, t->dims, (size_t)t->rank);
    copy.data = arena_copy(a, t->data, (size_t)(ref_element_count(t) * ir_dtype_bytes(t->dtype)));
  }
  if (t->members) {
    copy.members = ARENA_ARRAY(a, ref_tensor, t->n_members);
    for (uint32_t i = 0; i < t->n_members; i++)
      copy.members[i] = ref_tensor_copy(a, &t->members[i]);
  }
  return copy;
}

static bool can_hold(const ir_module *m, ir_type type) {
  const ir_type_data *t = ir_type_get(m, type);
  if (t->kind == IR_TYPE_TOKEN) return true;
  if (t->kind != IR_TYPE_TUPLE)
    return ir_is_static_tensor(m, type) && ir_type_bytes(m, type) < INT64_MAX;
  for (int32_t i = 0; i < t->n_types; i++)
    if (!can_hold(m, t->types[i])) return false;
  return true;
}

static bool has_type(const ref_tensor *t, const ir_type_data *type) {
  if (type->kind != IR_TYPE_TENSOR || t->dtype != type->dtype || t->rank != type->rank)
    return false;
  for (int32_t d = 0; d < t->rank; d++)
    if (t->dims[d] != type->dims[d]) return false;
  return true;
}

ref_tensor *ref_result(ref_frame *f, ir_op op, uint32_t i) {
  ir_value v = ir_result(f->m, op, i);
  const ir_type_data *t = ir_type_at(f->m, v);
  f->values[v] = ref_tensor_new(f->arena, t->dtype, t->rank, t->dims);
  return &f->values[v];
}

void ref_set_result(ref_frame *f, ir_op op, uint32_t i, const ref_tensor *t) {
  CTX_CHECK(f->ctx, i < ref_n_results(f, op));
  f->values[ir_result(f->m, op, i)] = *t;
}

/* ---- blocks and functions ---- */
static weir_status run_op(ref_frame *f, ir_op op) {
  for (uint32_t i = 0; i < ref_n_results(f, op); i++)
    if (!can_hold(f->m, ir_type_of(f->m, ir_result(f->m, op, i))))
      return ref_error(f, op, WEIR_UNIMPLEMENTED,
                       "result %u is not a tensor of a known element type and static shape", i);
  return evaluators[ir_kind_of(f->m, op)](f, op);
}

weir_status ref_run_block(ref_frame *f, ir_block block, const ref_tensor *args, ref_tensor *out) {
  const ir_block_data *b = ir_block_get(f->m, block);
  CTX_CHECK(f->ctx, b->ops.count > 0); /* verified: it has a terminator */
  for (uint32_t i = 0; i < b->args.count; i++) f->values[b->args.at[i]] = args[i];
  for (uint32_t i = 0; i + 1 < b->ops.count; i++) WEIR_TRY(run_op(f, b->ops.at[i]));
  ir_op end = ir_terminator(f->m, block);
  for (uint32_t i = 0; i < ref_n_operands(f, end); i++) out[i] = *ref_operand(f, end, i);
  return WEIR_OK;
}

weir_status ref_run_block_scoped(ref_frame *f, ir_block block, const ref_tensor *args, arena *keep,
                                 ref_tensor *out) {
  arena *outer = f->arena;
  f->arena = arena_create(f->ctx);
  weir_status status = ref_run_block(f, block, args, out);
  if (status == WEIR_OK)
    for (uint32_t i = 0; i < ref_n_returned(f, block); i++) out[i] = ref_tensor_copy(keep, &out[i]);
  arena_destroy(f->arena);
  f->arena = outer;
  return status;
}

ir_block ref_region(const ref_frame *f, ir_op op, uint32_t region) {
  return ir_op_get(f->m, op)->regions[region];
}

uint32_t ref_n_returned(const ref_frame *f, ir_block block) {
  return ref_n_operands(f, ir_terminator(f->m, block));
}

static weir_status enter(ref_frame *f, ir_op op, ir_op function, const ref_tensor *args,
                         uint32_t n_args, ref_tensor *out, uint32_t n_out) {
  if (ir_op_get(f->m, function)->n_regions != 1 || !ref_region(f, function, 0))
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "a function without a body");
  ir_block body = ref_region(f, function, 0);
  const ir_block_data *b = ir_block_get(f->m, body);
  if (b->args.count != n_args || ref_n_returned(f, body) != n_out)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "%u arguments and %u results, wanted %u and %u",
                     n_args, n_out, b->args.count, ref_n_returned(f, body));
  for (uint32_t i = 0; i < n_args; i++)
    if (args[i].dtype && !has_type(&args[i], ir_type_at(f->m, b->args.at[i])))
      return ref_error(f, op, WEIR_INVALID_ARGUMENT,
                       "argument %u has another element type or shape than the function's", i);
  for (const ref_call_chain *k = f->calls; k; k = k->caller)
    if (k->function == function) return ref_error(f, op, WEIR_INVALID_ARGUMENT, "a recursive call");
  ref_call_chain here = {function, f->calls};
  f->calls = &here;
  weir_status status = ref_run_block(f, body, args, out);
  f->calls = here.caller;
  return status;
}

weir_status ref_call_function(ref_frame *f, ir_op op, const char *name, const ref_tensor *args,
                              uint32_t n_args, ref_tensor *out, uint32_t n_out) {
  ir_op function = name ? ir_find_function(f->m, name) : IR_NONE;
  if (!function)
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "no function @%s", name ? name : "");
  return enter(f, op, function, args, n_args, out, n_out);
}

weir_status ref_run(arena *a, ir_module *m, const char *function, const ref_tensor *inputs,
                    uint32_t n_inputs, ref_tensor **out_results, uint32_t *out_count) {
  return ref_run_with(a, m, function, inputs, n_inputs, NULL, out_results, out_count);
}

static bool is_token(const ref_frame *f, ir_block body, uint32_t argument) {
  ir_value v = body ? ir_argument_at(f->m, body, argument) : IR_NONE;
  return v && ir_type_at(f->m, v)->kind == IR_TYPE_TOKEN;
}

weir_status ref_run_with(arena *a, ir_module *m, const char *function, const ref_tensor *inputs,
                         uint32_t n_inputs, const ref_handler *handlers, ref_tensor **out_results,
                         uint32_t *out_count) {
  ctx *c = m->ctx;
  WEIR_TRY(ir_verify(m));
  ir_op main = function ? ir_find_function(m, function) : ir_main_function(m);
  if (!main)
    return ctx_error(c, WEIR_INVALID_ARGUMENT, "no function @%s", function ? function : "main");
  ref_frame f = {.ctx = c, .m = m, .arena = arena_create(c), .handlers = handlers};
  f.values = ARENA_ARRAY(f.arena, ref_tensor, m->values.count);
  ir_block body = ir_op_get(m, main)->n_regions == 1 ? ref_region(&f, main, 0) : IR_NONE;
  uint32_t n = body ? ref_n_returned(&f, body) : 0;
  ref_tensor *out = ARENA_ARRAY(a, ref_tensor, n);
  for (uint32_t i = 0; i < n_inputs; i++)
    if (!inputs[i].dtype && !is_token(&f, body, i))
      return ctx_error(c, WEIR_INVALID_ARGUMENT, "input %u is no tensor", i);
  weir_status status = enter(&f, main, main, inputs, n_inputs, out, n);
  if (status == WEIR_OK)
    for (uint32_t i = 0; i < n; i++) out[i] = ref_tensor_copy(a, &out[i]);
  arena_destroy(f.arena);
  *out_results = out;
  *out_count = n;
  return status;
}

/* ---- attributes ---- */
bool ref_ints_any(ref_frame *f, ir_op op, const char *name, ir_ints *out) {
  static const int64_t nothing = 0;
  *out = (ir_ints){0, &nothing};
  if (!ir_op_attr(f->m, op, name)) return true;
  out->at = ir_op_ints(f->m, op, name, &out->count);
  return out->count >= 0;
}

weir_status ref_read_ints(ref_frame *f, ir_op op, const char *name, int32_t count,
                          int64_t otherwise, ir_ints *out) {
  if (ir_op_attr(f->m, op, name)) {
    if (ref_ints_any(f, op, name, out) && out->count == count) return WEIR_OK;
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "attribute %s is not %d integers", name, count);
  }
  int64_t *at = ARENA_ARRAY(f->arena, int64_t, (size_t)count);
  for (int32_t i = 0; i < count; i++) at[i] = otherwise;
  *out = (ir_ints){count, at};
  return WEIR_OK;
}

double ref_real(const ref_frame *f, ir_op op, const char *name, double otherwise) {
  ir_attr a = ir_op_attr(f->m, op, name);
  if (!a) return otherwise;
  const ir_attr_data *d = ir_attr_get(f->m, a);
  return d->kind == IR_ATTR_FLOAT ? d->real
         : d->kind == IR_ATTR_INT ? (double)d->integer
                                  : otherwise;
}
