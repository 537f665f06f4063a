/* custom_call: annotations that are the identity on one device, top-k in its several spellings,
 * LAPACK (linalg_ops.c), CHLO ops in disguise ("mhlo.erf"), and what the caller has a handler for.
 * Everything else is UNIMPLEMENTED by name. */
#include <math.h>

#include "ref/eval.h"

static bool is_annotation(const char *target) {
  static const char *const names[] = {
      "Sharding",   "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
      "MoveToHost", "MoveToDevice",         "LayoutConstraint",     "xla.sdy.FuncResultSharding"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(target, names[i])) return true;
  return false;
}

static weir_status identity(ref_frame *f, ir_op op) {
  if (ref_n_operands(f, op) != ref_n_results(f, op))
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "an annotation that changes the number of values");
  for (uint32_t i = 0; i < ref_n_results(f, op); i++) {
    if (ir_type_of(f->m, ir_operand(f->m, op, i)) != ir_type_of(f->m, ir_result(f->m, op, i)))
      return ref_error(f, op, WEIR_UNIMPLEMENTED, "an annotation that changes types");
    ref_set_result(f, op, i, ref_operand(f, op, i));
  }
  return WEIR_OK;
}

/* An entry of a dictionary attribute; NULL if absent. */
static const ir_attr_data *entry(const ref_frame *f, ir_op op, const char *dict, const char *name) {
  ir_attr a = ir_dict_get(f->m, ir_op_attr(f->m, op, dict), name);
  return a ? ir_attr_get(f->m, a) : NULL;
}

/* "mhlo.topk" with attributes {k, largest}, "TopK". */
static weir_status top_k(ref_frame *f, ir_op op) {
  const ir_attr_data *largest = entry(f, op, "mhlo.attributes", "largest");
  const ref_tensor *x = ref_n_operands(f, op) == 1 ? ref_operand(f, op, 0) : NULL;
  if (!x || ref_n_results(f, op) != 2 || x->rank < 1)
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "top-k of this form");
  ref_tensor *values = ref_result(f, op, 0), *indices = ref_result(f, op, 1);
  if (values->rank != x->rank || indices->rank != x->rank ||
      values->dims[x->rank - 1] > x->dims[x->rank - 1])
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "more results than elements");
  ref_top_k_rows(f, x, !largest || largest->kind != IR_ATTR_BOOL || largest->boolean, values,
                 indices);
  return WEIR_OK;
}

/* ---- ApproxTopK: n operands and n initial values; exact here: rows of reduction_dim are sorted by
 * the comparator and cut ---- */
typedef struct approx {
  ref_frame *f;
  ir_op op;
  ref_reducer comparator;
  uint32_t n;
  ref_scalar *args;
  int64_t base, stride;
} approx;

static weir_status approx_before(void *user, int64_t a, int64_t b, bool *out) {
  approx *s = user;
  ref_scalar result;
  for (uint32_t k = 0; k < s->n; k++) {
    s->args[2 * k] = ref_load(ref_operand(s->f, s->op, k), s->base + a * s->stride);
    s->args[2 * k + 1] = ref_load(ref_operand(s->f, s->op, k), s->base + b * s->stride);
  }
  WEIR_TRY(ref_reducer_call(&s->comparator, s->args, &result));
  *out = result.i != 0;
  return WEIR_OK;
}

static weir_status approx_rows(approx *s, int64_t length, int64_t kept) {
  ref_frame *f = s->f;
  int64_t rows = length ? ref_element_count(ref_operand(f, s->op, 0)) / length : 0,
          *order = ARENA_ARRAY(f->arena, int64_t, (size_t)length);
  for (int64_t row = 0; row < rows; row++) {
    int64_t outer = row / s->stride, inner = row % s->stride;
    s->base = outer * s->stride * length + inner;
    for (int64_t i = 0; i < length; i++) order[i] = i;
    WEIR_TRY(ref_merge_sort(order, length, f->arena, approx_before, s));
    for (uint32_t k = 0; k < s->n; k++)
      for (int64_t i = 0; i < kept; i++)
        ref_copy_element(&f->values[ir_result(f->m, s->op, k)],
                         outer * s->stride * kept + inner + i * s->stride, ref_operand(f, s->op, k),
                         s->base + order[i] * s->stride);
  }
  return WEIR_OK;
}

static const char *comparator_name(const ref_frame *f, ir_op op) {
  const ir_attr_data *d = ir_op_attr_of(f->m, op, "called_computations", IR_ATTR_ARRAY);
  if (!d || d->count != 1) return NULL;
  d = ir_attr_get(f->m, d->items[0]);
  return d->kind == IR_ATTR_SYMBOL ? ir_text(f->m, d->text) : NULL;
}

static weir_status approx_top_k(ref_frame *f, ir_op op) {
  const ir_attr_data *dim_attr = entry(f, op, "mhlo.backend_config", "reduction_dim");
  const char *name = comparator_name(f, op);
  ir_op comparator = name ? ir_find_function(f->m, name) : IR_NONE;
  approx s = {.f = f, .op = op, .n = ref_n_results(f, op), .stride = 1};
  if (!dim_attr || dim_attr->kind != IR_ATTR_INT || !comparator || s.n == 0 ||
      ref_n_operands(f, op) != 2 * s.n)
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "ApproxTopK of this form");
  const ref_tensor *x = ref_operand(f, op, 0);
  int64_t dim = dim_attr->integer < 0 ? dim_attr->integer + x->rank : dim_attr->integer;
  for (uint32_t k = 0; k < s.n; k++) ref_result(f, op, k);
  const ref_tensor *y = &f->values[ir_result(f->m, op, 0)];
  if (dim < 0 || dim >= x->rank || y->rank != x->rank || y->dims[dim] > x->dims[dim])
    return ref_error(f, op, WEIR_INVALID_ARGUMENT, "reduction_dim does not fit");
  for (int64_t d = dim + 1; d < x->rank; d++) s.stride *= x->dims[d];
  s.args = ARENA_ARRAY(f->arena, ref_scalar, 2 * s.n);
  ref_reducer_init(&s.comparator, f, ref_region(f, comparator, 0));
  weir_status status = s.comparator.n_args == 2 * s.n
                           ? approx_rows(&s, x->dims[dim], y->dims[dim])
                           : ref_error(f, op, WEIR_INVALID_ARGUMENT, "a comparator of %u arguments",
                                       s.comparator.n_args);
  ref_reducer_deinit(&s.comparator);
  return status;
}

/* ---- "mhlo.erf": CHLO's unary functions as portable artifacts spell them ---- */
static ir_kind disguised_chlo(const char *target) {
  char name[64] = "chlo.";
  if (strncmp(target, "mhlo.", 5) || strlen(target) > sizeof name - 8) return IR_OP_UNKNOWN;
  strcat(name, target + 5);
  return ir_kind_find(name, strlen(name));
}

static weir_status chlo_call(ref_frame *f, ir_op op, ir_kind kind, const char *target) {
  const ref_tensor *x = ref_n_operands(f, op) == 1 ? ref_operand(f, op, 0) : NULL;
  if (!x || ir_dtype_class_of(x->dtype) != IR_CLASS_FLOAT ||
      ir_type_of(f->m, ir_operand(f->m, op, 0)) != ir_type_of(f->m, ir_result(f->m, op, 0)))
    return ref_error(f, op, WEIR_UNIMPLEMENTED, "of @%s in this form", target);
  ref_tensor *y = ref_result(f, op, 0);
  for (int64_t i = 0, n = ref_element_count(y); i < n; i++)
    ref_store(y, i, (ref_scalar){.f = ref_chlo_unary_real(kind, ref_load(x, i).f)});
  return WEIR_OK;
}

static bool is_chlo_unary(ir_kind kind) {
  switch (kind) {
    case IR_OP_CHLO_ACOS:
    case IR_OP_CHLO_ACOSH:
    case IR_OP_CHLO_ASIN:
    case IR_OP_CHLO_ASINH:
    case IR_OP_CHLO_ATANH:
    case IR_OP_CHLO_COSH:
    case IR_OP_CHLO_ERF:
    case IR_OP_CHLO_SINH:
    case IR_OP_CHLO_TAN: return true;
    default: return false;
  }
}

static const ref_handler *find_handler(const ref_frame *f, const char *target) {
  const ref_handler *h = f->handlers;
  while (h && h->target && strcmp(target, h->target)) h++;
  return h && h->target ? h : NULL;
}

static weir_status handle(ref_frame *f, ir_op op, const ref_handler *handler) {
  uint32_t n_in = ref_n_operands(f, op), n_out = ref_n_results(f, op);
  ref_tensor *operands = ARENA_ARRAY(f->arena, ref_tensor, n_in),
             *results = ARENA_ARRAY(f->arena, ref_tensor, n_out);
  for (uint32_t i = 0; i < n_in; i++) operands[i] = *ref_operand(f, op, i);
  for (uint32_t j = 0; j < n_out; j++) {
    bool is_token = ir_type_at(f->m, ir_result(f->m, op, j))->kind == IR_TYPE_TOKEN;
    if (is_token) ref_set_result(f, op, j, &results[j]);
    else results[j] = *ref_result(f, op, j);
  }
  return handler->run(f->ctx, f->m, op, operands, results);
}

weir_status ref_custom_call(ref_frame *f, ir_op op) {
  const char *target = ir_op_string(f->m, op, "call_target_name");
  if (!target) return ref_error(f, op, WEIR_INVALID_ARGUMENT, "no call_target_name");
  const ref_handler *handler = find_handler(f, target);
  if (handler) return handle(f, op, handler);
  if (is_annotation(target)) return identity(f, op);
  if (!strcmp(target, "mhlo.topk") || !strcmp(target, "TopK")) return top_k(f, op);
  if (!strcmp(target, "ApproxTopK")) return approx_top_k(f, op);
  ir_kind chlo = disguised_chlo(target);
  if (is_chlo_unary(chlo)) return chlo_call(f, op, chlo, target);
  return ref_lapack_call(f, op, target);
}
