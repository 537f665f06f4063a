#include "split/masked.h"

#include "ir/fold.h"
#include "ir/masks.h"
#include "split/loops.h"

enum { FARTHEST = 16 }; /* ops between a mask and who multiplies with it */

static bool is_mask(const ir_module *m, ir_value v, int32_t steps);

/* Which operand of its loop an argument is; -1: the trip's indices, or of no loop. */
static int64_t operand_of(const ir_module *m, ir_value argument) {
  const ir_value_data *d = ir_value_get(m, argument);
  ir_op loop = d->op ? IR_NONE : ir_block_get(m, d->block)->parent;
  bool is_operand = loop && ir_kind_of(m, loop) == IR_OP_LOOP && d->index >= 2;
  return is_operand ? (int64_t)d->index - 2 : -1;
}

static uint32_t n_inputs(const ir_module *m, ir_op loop) {
  return split_loop_get((ir_module *)m, loop).n_inputs;
}

/* A result that a loop puts together of slices, or of windows that it writes into a carry. */
static bool is_put_out(const ir_module *m, ir_op loop, uint32_t result, int32_t steps) {
  ir_value v = ir_yielded(m, ir_body(m, loop), result);
  ir_op put = ir_maker(m, v, IR_OP_DYNAMIC_UPDATE_SLICE);
  if (!put) return is_mask(m, v, steps);
  if (operand_of(m, ir_operand(m, put, 0)) < n_inputs(m, loop)) return false;
  v = ir_operand(m, put, 1);
  ir_op covered = ir_maker(m, v, IR_OP_SELECT); /* where a window has no elements: the carry's */
  return is_mask(m, covered ? ir_operand(m, covered, 1) : v, steps);
}

/* What every trip has as this argument, whole or by slices; IR_NONE. */
static ir_value read_from(const ir_module *m, ir_value argument) {
  int64_t i = operand_of(m, argument);
  if (i < 0) return IR_NONE;
  ir_op loop = ir_block_get(m, ir_value_get(m, argument)->block)->parent;
  return i < n_inputs(m, loop) ? ir_operand(m, loop, (uint32_t)i) : IR_NONE;
}

/* Numbers that were a mask, and moved since. */
static bool is_mask(const ir_module *m, ir_value v, int32_t steps) {
  if (steps == 0 || ir_is_converted_mask(m, v)) return steps > 0;
  ir_op op = ir_value_get(m, v)->op;
  ir_value from = op ? IR_NONE : read_from(m, v);
  if (from) return is_mask(m, from, steps - 1);
  switch (op ? ir_kind_of(m, op) : IR_OP_UNKNOWN) {
    case IR_OP_SLICE:
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_GATHER:
    case IR_OP_OPTIMIZATION_BARRIER: return is_mask(m, ir_operand(m, op, 0), steps - 1);
    case IR_OP_SELECT: /* zeros for what a trip before has summed */
      return ir_is_zero(m, ir_operand(m, op, 2)) && is_mask(m, ir_operand(m, op, 1), steps - 1);
    case IR_OP_LOOP: return is_put_out(m, op, ir_value_get(m, v)->index, steps - 1);
    default: return false;
  }
}

/* In a loop's body. */
static bool is_apart(const ir_module *m, ir_value v) {
  return !ir_is_converted_mask(m, v) && is_mask(m, v, FARTHEST);
}

/* Outside: what was moved there is as the program has it. */
static bool is_of_loop(const ir_module *m, ir_value v) {
  return ir_maker(m, v, IR_OP_LOOP) && is_mask(m, v, FARTHEST);
}

void split_select_masked(ir_module *m, ir_block block, ir_op first) {
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) {
    if (op < first || ir_kind_of(m, op) != IR_OP_LOOP) continue;
    ir_select_masked(m, ir_body(m, op), is_apart);
    if (ir_op_get(m, op)->whole) ir_select_masked(m, ir_op_get(m, op)->whole, is_apart);
  }
  ir_select_masked(m, block, is_of_loop);
}
