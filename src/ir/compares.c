#include "ir/compares.h"

#include "ir/fold.h"

enum { MOST_MOVES = 8 };

bool ir_is_number(const ir_module *m, ir_value v) {
  return ir_splat_element(m, v, MOST_MOVES) != NULL;
}

ir_value ir_function_of(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  uint32_t n = ir_op_get(m, op)->n_operands;
  if (!ir_is_elementwise(kind)) return IR_NONE;
  if (n == 1) return ir_operand(m, op, 0);
  if (kind == IR_OP_CLAMP) return ir_operand(m, op, 1);
  bool is_bound = kind == IR_OP_MAXIMUM || kind == IR_OP_MINIMUM;
  bool is_number = ir_is_number(m, ir_operand(m, op, 1));
  bool is_square = kind == IR_OP_MULTIPLY && ir_operand(m, op, 0) == ir_operand(m, op, 1);
  if (is_square || ((kind == IR_OP_DIVIDE || kind == IR_OP_POWER) && is_number))
    return ir_operand(m, op, 0);
  if (kind != IR_OP_MULTIPLY && !is_bound) return IR_NONE;
  if (is_number) return ir_operand(m, op, 0);
  return ir_is_number(m, ir_operand(m, op, 0)) ? ir_operand(m, op, 1) : IR_NONE;
}

static bool has_steps(ir_kind kind) {
  return kind == IR_OP_SIGN || kind == IR_OP_FLOOR || kind == IR_OP_CEIL;
}

/* Of 0 it makes another number. */
static bool moves_zero(ir_kind kind) {
  return kind == IR_OP_EXPONENTIAL || kind == IR_OP_COSINE || kind == IR_OP_LOGISTIC;
}

/* The difference that v is a function of. at_zero: it counts on which side of 0 it is. */
static ir_op difference_under(const ir_module *m, ir_value v, ir_block block, bool at_zero) {
  for (uint32_t i = 0; v && i < MOST_MOVES; i++) {
    ir_op op = ir_value_get(m, v)->op;
    if (!op || ir_op_get(m, op)->block != block) return IR_NONE;
    ir_kind kind = ir_kind_of(m, op);
    if (kind == IR_OP_SUBTRACT) return at_zero ? op : IR_NONE;
    at_zero |= has_steps(kind) || moves_zero(kind);
    v = ir_function_of(m, op);
  }
  return IR_NONE;
}

ir_op ir_compares_by(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  ir_block block = ir_op_get(m, op)->block;
  if (has_steps(kind)) return difference_under(m, ir_operand(m, op, 0), block, true);
  if (kind != IR_OP_COMPARE) return IR_NONE;
  bool is_right = ir_is_number(m, ir_operand(m, op, 0));
  ir_value number = ir_operand(m, op, !is_right);
  if (!ir_is_number(m, number)) return op;
  ir_op by = difference_under(m, ir_operand(m, op, is_right), block, ir_is_zero(m, number));
  return by ? by : op;
}

ir_op ir_compares_rounded_by(const ir_module *m, ir_op op) {
  ir_op by = ir_compares_by(m, op);
  if (!by || !ir_is_float(ir_type_at(m, ir_operand(m, by, 0))->dtype)) return IR_NONE;
  bool has_number = ir_is_number(m, ir_operand(m, by, 0)) || ir_is_number(m, ir_operand(m, by, 1));
  return has_number ? IR_NONE : by;
}
