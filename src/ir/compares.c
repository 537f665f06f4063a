#include "ir/compares.h"

#include <math.h>

#include "ir/attrs.h"
#include "ir/floats.h"
#include "ir/fold.h"

enum {
  MOST_MOVES = 8,
  MOST_VALUES = 16,
  MOST_DEPTH = 12 /* numbers of what is shared are found again */
};

bool ir_is_number(const ir_module *m, ir_value v) {
  return ir_splat_element(m, v, MOST_MOVES) != NULL;
}

static bool is_negated(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  for (uint32_t i = 0; op && (ir_kind_flags(ir_kind_of(m, op)) & IR_FLAG_M) && i < MOST_MOVES; i++)
    op = ir_value_get(m, ir_operand(m, op, 0))->op;
  return op && ir_kind_of(m, op) == IR_OP_NEGATE;
}

/* Where they are the same, what comes of the two is a number. */
static bool is_of_two(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind != IR_OP_SUBTRACT && kind != IR_OP_DIVIDE && kind != IR_OP_ADD) return false;
  ir_value x = ir_operand(m, op, 0), y = ir_operand(m, op, 1);
  if (kind == IR_OP_ADD && !is_negated(m, x) && !is_negated(m, y)) return false;
  return !ir_is_number(m, x) && !ir_is_number(m, y);
}

static bool has_steps(ir_kind kind) {
  return kind == IR_OP_SIGN || kind == IR_OP_FLOOR || kind == IR_OP_CEIL;
}

typedef struct function { /* of what comes of two values, element by element */
  const ir_module *m;
  ir_block block;
  ir_value values[MOST_VALUES];
  uint32_t count;
  ir_op of;
  double at; /* what comes of the two, for number_of() */
} function;

static bool add(function *f, ir_value v) {
  bool is_there = ir_is_number(f->m, v);
  for (uint32_t i = 0; !is_there && i < f->count; i++) is_there = f->values[i] == v;
  if (is_there || f->count == MOST_VALUES) return is_there;
  f->values[f->count++] = v;
  return true;
}

/* False: it is a function of something else. */
static bool look_under(function *f, ir_value v) {
  ir_op op = ir_is_made_in(f->m, v, f->block) ? ir_value_get(f->m, v)->op : IR_NONE;
  if (!op || !ir_is_elementwise(ir_kind_of(f->m, op)) || ir_kind_of(f->m, op) == IR_OP_COMPARE)
    return false;
  if (is_of_two(f->m, op)) {
    bool is_another = f->of && f->of != op;
    f->of = op;
    return !is_another;
  }
  bool is = true;
  for (ir_value x, i = 0; is && (x = ir_operand_at(f->m, op, i)); i++) is = add(f, x);
  return is;
}

static function function_of_two(const ir_module *m, ir_value v, ir_block block) {
  function f = {.m = m, .block = block};
  bool is = add(&f, v);
  for (uint32_t i = 0; is && i < f.count; i++) is = look_under(&f, f.values[i]);
  if (!is) f.of = IR_NONE;
  return f;
}

/* ---- as a number, where the two are nearly the same; NAN: not known ---- */
static double number_of(const function *f, ir_value v, int steps);

static double number_by(const function *f, ir_op op, int steps) {
  double x[3] = {0};
  uint32_t n = ir_op_get(f->m, op)->n_operands;
  for (uint32_t i = 0; i < n && i < 3; i++) {
    x[i] = number_of(f, ir_operand(f->m, op, i), steps);
    if (isnan(x[i])) return NAN;
  }
  ir_dtype dtype = ir_type_at(f->m, ir_result(f->m, op, 0))->dtype;
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_CONVERT: return ir_is_float(dtype) ? x[0] : ir_is_integer(dtype) ? trunc(x[0]) : NAN;
    case IR_OP_CLAMP: return fmin(fmax(x[0], x[1]), x[2]);
    case IR_OP_SIGN: return (x[0] > 0) - (x[0] < 0);
    case IR_OP_FLOOR: return floor(x[0]);
    case IR_OP_CEIL: return ceil(x[0]);
    default: return n < 3 ? ir_folded(ir_kind_of(f->m, op), x[0], x[1]) : NAN;
  }
}

static double number_of(const function *f, ir_value v, int steps) {
  const ir_attr_data *d = ir_splat_element(f->m, v, MOST_MOVES);
  ir_op op = ir_value_get(f->m, v)->op;
  if (d) return ir_load_number(ir_type_get(f->m, d->type)->dtype, d->data);
  if (op == f->of) return f->at;
  return steps ? number_by(f, op, steps - 1) : NAN;
}

/* Of a comparison whether it is true; of a step where it is. */
static double outcome(function *f, ir_op op, double at) {
  f->at = at;
  if (ir_kind_of(f->m, op) != IR_OP_COMPARE) return number_by(f, op, MOST_DEPTH);
  ir_direction d;
  ir_compare_type type;
  double x = number_of(f, ir_operand(f->m, op, 0), MOST_DEPTH),
         y = number_of(f, ir_operand(f->m, op, 1), MOST_DEPTH);
  if (isnan(x) || isnan(y) || !ir_compare_kind(f->m, op, &d, &type)) return NAN;
  bool asks_larger = d == IR_GE || d == IR_GT;
  if (x == y) return d == IR_EQ || d == IR_GE || d == IR_LE;
  return d == IR_NE || (d != IR_EQ && (x > y) == asks_larger);
}

/* Whether rounding, or half of an integer, may move it there, as far as that is known. */
static bool may_move_at(function *f, ir_op op, double at) {
  ir_dtype dtype = ir_type_at(f->m, ir_result(f->m, f->of, 0))->dtype;
  double eps = ir_is_float(dtype) ? ir_float_value(dtype, ir_float_bits(dtype, 1) + 1) - 1 : 0.25,
         near = sqrt(eps), is = outcome(f, op, at);
  return !(outcome(f, op, at - near) == is && outcome(f, op, at + near) == is);
}

/* A quotient is -1 where one of the two is negated. XLA multiplies by inverses, so that it need not
 * be 1: rounding moves what has steps there in the program as it came, too. */
static bool may_move(function *f, ir_op op) {
  if (ir_kind_of(f->m, f->of) != IR_OP_DIVIDE) return may_move_at(f, op, 0);
  bool compares = ir_kind_of(f->m, op) == IR_OP_COMPARE;
  return compares && (may_move_at(f, op, 1) || may_move_at(f, op, -1));
}

ir_op ir_compares_by(const ir_module *m, ir_op op) {
  bool compares = ir_kind_of(m, op) == IR_OP_COMPARE;
  if (!compares && !has_steps(ir_kind_of(m, op))) return IR_NONE;
  bool is_right = compares && ir_is_number(m, ir_operand(m, op, 0));
  if (compares && !ir_is_number(m, ir_operand(m, op, !is_right))) return op;
  function f = function_of_two(m, ir_operand(m, op, is_right), ir_op_get(m, op)->block);
  return f.of && may_move(&f, op) ? f.of : compares ? op : IR_NONE;
}

ir_op ir_compares_rounded_by(const ir_module *m, ir_op op) {
  ir_op by = ir_compares_by(m, op);
  if (!by || !ir_is_float(ir_type_at(m, ir_operand(m, by, 0))->dtype)) return IR_NONE;
  bool has_number = ir_is_number(m, ir_operand(m, by, 0)) || ir_is_number(m, ir_operand(m, by, 1));
  return has_number ? IR_NONE : by;
}
