#include "ir/online.h"

#include <math.h>

#include "ir/attrs.h"
#include "ir/fold.h"

const online_form ONLINE_NONE = {ONLINE_INDEPENDENT, {0}}, ONLINE_UNKNOWN = {ONLINE_OTHERWISE, {0}};

/* ---- forms ---- */
static bool is_alike(const online_term *a, const online_term *b) {
  return a->statistic == b->statistic && a->exponential == b->exponential &&
         a->guarded == b->guarded && !memcmp(a->dims, b->dims, sizeof a->dims);
}

static bool add_term(online_terms *t, online_term term) {
  assert(0 <= t->count && t->count <= ONLINE_MOST);
  for (int32_t i = 0; i < t->count; i++)
    if (is_alike(&t->at[i], &term)) {
      t->at[i].degree += term.degree;
      return true;
    }
  if (t->count == ONLINE_MOST) return false;
  t->at[t->count++] = term;
  return true;
}

static online_form combined(online_form a, online_form b, int sign) { /* of sums, or products */
  assert(sign == 1 || sign == -1);
  for (int32_t i = 0; i < b.terms.count; i++) {
    online_term term = b.terms.at[i];
    term.degree *= sign;
    if (!add_term(&a.terms, term)) return ONLINE_UNKNOWN;
  }
  if (a.kind == ONLINE_INDEPENDENT) a.kind = b.kind;
  return a;
}

static int32_t degree_of(const online_terms *t, const online_term *term) {
  for (int32_t i = 0; i < t->count; i++)
    if (is_alike(&t->at[i], term)) return t->at[i].degree;
  return 0;
}

static bool same_terms(const online_terms *a, const online_terms *b) {
  for (int32_t i = 0; i < a->count; i++)
    if (degree_of(b, &a->at[i]) != a->at[i].degree) return false;
  for (int32_t i = 0; i < b->count; i++)
    if (degree_of(a, &b->at[i]) != b->at[i].degree) return false;
  return true;
}

static bool is_same(const online_form *a, const online_form *b) {
  return a->kind == b->kind && same_terms(&a->terms, &b->terms);
}

static online_form sum_of(online_form a, online_form b, int sign) {
  if (a.kind == ONLINE_OTHERWISE || b.kind == ONLINE_OTHERWISE) return ONLINE_UNKNOWN;
  if (a.kind != ONLINE_MULTIPLICATIVE && b.kind != ONLINE_MULTIPLICATIVE)
    return combined(a, b, sign);
  return is_same(&a, &b) ? a : ONLINE_UNKNOWN;
}

static bool is_product(const online_form *f) {
  return f->kind == ONLINE_INDEPENDENT || f->kind == ONLINE_MULTIPLICATIVE;
}

static online_form product_of(online_form a, online_form b, int sign) {
  return is_product(&a) && is_product(&b) ? combined(a, b, sign) : ONLINE_UNKNOWN;
}

static online_form exponential_of(online_form a) {
  if (a.kind == ONLINE_INDEPENDENT) return a;
  if (a.kind != ONLINE_ADDITIVE) return ONLINE_UNKNOWN;
  for (int32_t i = 0; i < a.terms.count; i++) a.terms.at[i].exponential = true;
  a.kind = ONLINE_MULTIPLICATIVE;
  return a;
}

static online_form negated(online_form a) {
  return a.kind == ONLINE_ADDITIVE ? combined(ONLINE_NONE, a, -1) : a;
}

/* ---- ops ---- */
ir_kind online_reducer(const ir_module *m, ir_op op) {
  switch (ir_kind_of(m, op)) {
    case IR_OP_REDUCE:
      return ir_op_get(m, op)->n_operands == 2 ? ir_reducer_kind(m, ir_body(m, op)) : IR_OP_UNKNOWN;
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL: return IR_OP_ADD;
    default: return IR_OP_UNKNOWN;
  }
}

/* A choice between forms; what is 0, or -inf before exp, is so for every statistic. */
static online_form select_of(const ir_module *m, ir_op op, online_reader *of, void *reader) {
  online_form a = of(reader, op, 1), b = of(reader, op, 2);
  if (of(reader, op, 0).kind != ONLINE_INDEPENDENT) return ONLINE_UNKNOWN;
  if (is_same(&a, &b)) return a;
  for (uint32_t i = 1; i <= 2; i++) {
    const online_form *some = i == 1 ? &b : &a;
    bool depends = some->kind == ONLINE_ADDITIVE || some->kind == ONLINE_MULTIPLICATIVE;
    double absorbing = some->kind == ONLINE_ADDITIVE ? -(double)INFINITY : 0;
    if (depends && ir_is_splat_real(m, ir_operand(m, op, i), absorbing)) return *some;
  }
  return ONLINE_UNKNOWN;
}

/* max(-inf, x) */
static online_form maximum_of(const ir_module *m, ir_op op, online_reader *of, void *reader) {
  for (uint32_t i = 0; i < 2; i++)
    if (ir_is_splat_real(m, ir_operand(m, op, i), -(double)INFINITY)) return of(reader, op, 1 - i);
  return ONLINE_UNKNOWN;
}

static online_form reduce_of(const ir_module *m, ir_op op, online_reader *of, void *reader) {
  if (online_reducer(m, op) != IR_OP_ADD || !ir_is_splat_real(m, ir_operand(m, op, 1), 0))
    return ONLINE_UNKNOWN;
  online_form a = of(reader, op, 0);
  return is_product(&a) ? a : ONLINE_UNKNOWN;
}

online_form online_of_op(const ir_module *m, ir_op op, online_reader *of, void *reader) {
#define OPERAND(i) of(reader, op, i)
  switch (ir_kind_of(m, op)) {
    case IR_OP_ADD: return sum_of(OPERAND(0), OPERAND(1), 1);
    case IR_OP_SUBTRACT: return sum_of(OPERAND(0), OPERAND(1), -1);
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL:
    case IR_OP_MULTIPLY: return product_of(OPERAND(0), OPERAND(1), 1);
    case IR_OP_DIVIDE: return product_of(OPERAND(0), OPERAND(1), -1);
    case IR_OP_EXPONENTIAL: return exponential_of(OPERAND(0));
    case IR_OP_NEGATE: return negated(OPERAND(0));
    case IR_OP_SELECT: return select_of(m, op, of, reader);
    case IR_OP_MAXIMUM: return maximum_of(m, op, of, reader);
    case IR_OP_REDUCE: return reduce_of(m, op, of, reader);
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_RESHAPE:
    case IR_OP_TRANSPOSE:
    case IR_OP_OPTIMIZATION_BARRIER: return OPERAND(0);
    default: return ONLINE_UNKNOWN;
  }
#undef OPERAND
}
