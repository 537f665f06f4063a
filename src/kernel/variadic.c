/* Reductions of several operands by one body (argmin, argmax): the body's ops on whole vectors, one
 * accumulator a result, then the body once more across the lanes.
 *
 * Where nothing has been seen yet stand the initial values, so these must be constants, and a
 * result either one of the body's arguments, chosen, or a minimum or maximum of the two: counting
 * such a value twice changes nothing. That the body is associative is StableHLO's condition, and
 * that the order does not matter what XLA relies on too.
 */
#include "ir/attrs.h"
#include "ir/fold.h"
#include "kernel/elementwise.h"
#include "kernel/lists.h"
#include "kernel/tie.h"

enum { DEEPEST = 8, MOST_VALUES = 64 };

bool kernel_variadic_is_covered(const ir_module *m, ir_op op) {
  uint32_t n = ir_op_get(m, op)->n_results;
  const ir_block_data *b = ir_block_get(m, ir_body(m, op));
  if (2 * n > KERNEL_MOST_OPERANDS || b->ops.count > MOST_VALUES / 2) return false;
  for (ir_op inner, i = 0; (inner = ir_body_op_at(m, ir_body(m, op), i)); i++) {
    if (ir_is_splat_constant(m, ir_result(m, inner, 0))) continue;
    if (kernel_rule_of(ir_kind_of(m, inner)) != kernel_rule_elementwise ||
        !kernel_is_elementwise(m, inner))
      return false;
  }
  for (uint32_t i = 0; i < n; i++)
    if (!ir_is_splat_constant(m, ir_operand(m, op, n + i)) || !ir_is_chosen(m, ir_body(m, op), i))
      return false;
  return true;
}

/* ---- the body on vectors ---- */
typedef struct binding {
  ir_value of;
  const char *is;
} binding;

typedef struct scope {
  binding at[MOST_VALUES];
  uint32_t n;
} scope;

static const char *looked_up(const scope *s, ir_value v) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i].of == v) return s->at[i].is;
  return NULL;
}

static const char *splat_literal(kernel_emitter *e, ir_op op, int32_t lanes) {
  ir_dtype dtype = ir_type_at(e->n->m, ir_result(e->n->m, op, 0))->dtype;
  const char *one = kernel_literal(e, op);
  return lanes == 1 ? one : kernel_splat(e, dtype, one);
}

static const char *evaluate(kernel_emitter *e, const scope *s, ir_op op, int32_t lanes) {
  const char *args[KERNEL_MOST_OPERANDS];
  if (ir_kind_of(e->n->m, op) == IR_OP_CONSTANT) return splat_literal(e, op, lanes);
  for (uint32_t i = 0; i < ir_op_get(e->n->m, op)->n_operands; i++)
    args[i] = looked_up(s, ir_operand(e->n->m, op, i));
  return kernel_emit_elementwise(e, op, lanes, args);
}

void kernel_variadic_combine(kernel_emitter *e, const kernel_node *first, int32_t lanes,
                             const char **sum, const char *const *add) {
  const ir_module *m = e->n->m;
  uint32_t n = ir_op_get(m, first->op)->n_results;
  ir_block body = ir_body(m, first->op);
  scope s = {.n = 0};
  for (uint32_t i = 0; i < 2 * n; i++)
    s.at[s.n++] = (binding){ir_argument(m, body, i), i < n ? sum[i] : add[i - n]};
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++) {
    const char *is = evaluate(e, &s, op, lanes);
    s.at[s.n++] = (binding){ir_result(m, op, 0), is};
  }
  for (uint32_t i = 0; i < n; i++) sum[i] = looked_up(&s, ir_yielded(m, body, i));
}

const char *kernel_variadic_neutral(kernel_emitter *e, const kernel_node *x) {
  uint32_t n = ir_op_get(e->n->m, x->op)->n_results;
  return kernel_literal(e, ir_value_get(e->n->m, ir_operand(e->n->m, x->op, n + x->which))->op);
}

/* ---- across the lanes ---- */
/* An index: of two that the body can't tell apart (NaNs) the first in the program's order counts.
 */
static bool counts_columns(const kernel_nest *n, ir_value v, int depth) {
  const kernel_node *x = kernel_node_of(n, v);
  if (!x || !depth) return false;
  if (x->kind == IR_OP_IOTA) return true;
  bool moves = x->kind == IR_OP_ADD || x->kind == IR_OP_CONVERT ||
               x->kind == IR_OP_BROADCAST_IN_DIM || x->kind == IR_OP_RESHAPE;
  for (uint32_t i = 0; moves && i < x->n_operands; i++)
    if (counts_columns(n, ir_operand(n->m, x->op, i), depth - 1)) return true;
  return false;
}

static int32_t index_among(const kernel_nest *n, const kernel_node *first) {
  uint32_t count = ir_op_get(n->m, first->op)->n_results;
  for (uint32_t i = 0; i < count; i++)
    if (ir_dtype_class_of(ir_type_at(n->m, first[i].value)->dtype) == IR_CLASS_INT &&
        counts_columns(n, ir_operand(n->m, first->op, i), DEEPEST))
      return (int32_t)i;
  return -1;
}

static const char *part(kernel_emitter *e, const char *type, const char *x, int32_t from,
                        int32_t lanes) {
  strbuf b = strbuf_make(e->a);
  if (lanes == 1) return kernel_line(e, "extractelement %s %s, i64 %d", type, x, from);
  for (int32_t i = 0; i < lanes; i++) strbuf_printf(&b, "%si32 %d", i ? ", " : "", from + i);
  return kernel_line(e, "shufflevector %s %s, %s poison, <%d x i32> <%s>", type, x, type, lanes,
                     b.text);
}

static void put_in_order(kernel_emitter *e, const kernel_node *first, int32_t index, int32_t lanes,
                         const char **x, const char **y) {
  ir_dtype dtype = ir_type_at(e->n->m, first[index].value)->dtype;
  const char *swap =
      kernel_line(e, "icmp sgt %s %s, %s", kernel_typed(e, dtype, lanes), x[index], y[index]);
  for (uint32_t i = 0; i < ir_op_get(e->n->m, first->op)->n_results; i++) {
    const char *type = kernel_typed(e, ir_type_at(e->n->m, first[i].value)->dtype, lanes),
               *test = kernel_typed(e, IR_I1, lanes), *a = x[i], *b = y[i];
    x[i] = kernel_line(e, "select %s %s, %s %s, %s %s", test, swap, type, b, type, a);
    y[i] = kernel_line(e, "select %s %s, %s %s, %s %s", test, swap, type, a, type, b);
  }
}

void kernel_variadic_across_lanes(kernel_emitter *e, const kernel_node *first,
                                  const char **values) {
  uint32_t n = ir_op_get(e->n->m, first->op)->n_results;
  int32_t index = index_among(e->n, first);
  for (int32_t lanes = e->n->lanes; lanes > 1; lanes /= 2) {
    const char *low[KERNEL_MOST_OPERANDS], *high[KERNEL_MOST_OPERANDS];
    for (uint32_t i = 0; i < n; i++) {
      const char *type = kernel_typed(e, ir_type_at(e->n->m, first[i].value)->dtype, lanes);
      low[i] = part(e, type, values[i], 0, lanes / 2);
      high[i] = part(e, type, values[i], lanes / 2, lanes / 2);
    }
    if (index >= 0) put_in_order(e, first, index, lanes / 2, low, high);
    kernel_variadic_combine(e, first, lanes / 2, low, high);
    for (uint32_t i = 0; i < n; i++) values[i] = low[i];
  }
}
