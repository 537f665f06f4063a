#include "ir/compares.h"

#include "ir/fold.h"

enum { MOST_MOVES = 8, MOST_VALUES = 16 };

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

static bool has_steps(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  bool ends_in_ints =
      kind == IR_OP_CONVERT && ir_is_integer(ir_type_at(m, ir_result(m, op, 0))->dtype);
  return kind == IR_OP_SIGN || kind == IR_OP_FLOOR || kind == IR_OP_CEIL ||
         (ends_in_ints && ir_is_float(ir_type_at(m, ir_operand(m, op, 0))->dtype));
}

/* Small numbers stay small, of the same unit or its square. */
static bool keeps_zero(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  return kind == IR_OP_ABS || kind == IR_OP_NEGATE || kind == IR_OP_SQRT || kind == IR_OP_MAXIMUM ||
         kind == IR_OP_MINIMUM || kind == IR_OP_CLAMP || kind == IR_OP_CONVERT ||
         kind == IR_OP_POWER ||
         (kind == IR_OP_MULTIPLY && ir_operand(m, op, 0) == ir_operand(m, op, 1));
}

typedef struct function { /* of what comes of two values, element by element */
  const ir_module *m;
  ir_block block;
  ir_value values[MOST_VALUES];
  uint32_t count;
  ir_op of;
  bool moves_zero;
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
  f->moves_zero |= !keeps_zero(f->m, op);
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

ir_op ir_compares_by(const ir_module *m, ir_op op) {
  ir_block block = ir_op_get(m, op)->block;
  if (has_steps(m, op)) return function_of_two(m, ir_operand(m, op, 0), block).of;
  if (ir_kind_of(m, op) != IR_OP_COMPARE) return IR_NONE;
  bool is_right = ir_is_number(m, ir_operand(m, op, 0));
  ir_value number = ir_operand(m, op, !is_right);
  if (!ir_is_number(m, number)) return op;
  function f = function_of_two(m, ir_operand(m, op, is_right), block);
  bool is_quotient = f.of && ir_kind_of(m, f.of) == IR_OP_DIVIDE;
  return f.of && (f.moves_zero || ir_is_zero(m, number) != is_quotient) ? f.of : op;
}

ir_op ir_compares_rounded_by(const ir_module *m, ir_op op) {
  ir_op by = ir_compares_by(m, op);
  if (!by || !ir_is_float(ir_type_at(m, ir_operand(m, by, 0))->dtype)) return IR_NONE;
  bool has_number = ir_is_number(m, ir_operand(m, by, 0)) || ir_is_number(m, ir_operand(m, by, 1));
  return has_number ? IR_NONE : by;
}
