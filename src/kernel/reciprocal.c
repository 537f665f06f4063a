#include "kernel/reciprocal.h"

#include <math.h>

#include "ir/fold.h"

enum { MOST_MOVES = 8 }; /* of a constant until it is divided by */

/* 1 / v, where v is one number; 0: it is none, or 1 / v is no normal number. */
static double reciprocal_of(const ir_module *m, ir_value v) {
  double x;
  if (!ir_splat_element(m, v, MOST_MOVES) || !ir_splat_real(m, v, &x)) return 0;
  bool is_single = ir_type_at(m, v)->dtype == IR_F32;
  double y = is_single ? (double)(1 / (float)x) : 1 / x;
  return (is_single ? isnormal((float)y) : isnormal(y)) ? y : 0;
}

static void multiply(ir_module *m, ir_block body, ir_op op, double y) {
  ir_builder b = {m, body, IR_NONE};
  ir_value factor = ir_build_splat_real(&b, ir_type_of(m, ir_result(m, op, 0)), y);
  ir_op_get(m, op)->kind = IR_OP_MULTIPLY;
  ir_op_get(m, op)->operands[1] = factor;
}

void kernel_multiply_by_reciprocals(ir_module *m, ir_op loop) {
  ir_block body = ir_body(m, loop);
  ir_ops old = ir_take_ops(m, body);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    double y = ir_kind_of(m, op) == IR_OP_DIVIDE ? reciprocal_of(m, ir_operand(m, op, 1)) : 0;
    if (y != 0) multiply(m, body, op, y);
    ir_block_append(m, body, op);
  }
}
