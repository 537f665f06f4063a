/* How often a while runs: a carry that begins at a constant, grows or falls by a constant and is
 * compared with another. */
#include "ir/attrs.h"

/* A carry of the while, by what its condition has of it. */
static bool is_carry(const ir_module *m, ir_op loop, ir_value v, uint32_t *out_index) {
  const ir_value_data *d = ir_value_get(m, v);
  *out_index = d->index;
  return !d->op && d->block == ir_body(m, loop);
}

/* What each trip adds to the carry; 0: we don't know. */
static int64_t growth_of(const ir_module *m, ir_op loop, uint32_t carry) {
  ir_block body = ir_op_get(m, loop)->regions[1];
  ir_value arg = ir_block_get(m, body)->args.at[carry];
  ir_op step = ir_value_get(m, ir_operand(m, ir_terminator(m, body), carry))->op;
  int64_t by;
  bool adds = step && ir_kind_of(m, step) == IR_OP_ADD;
  if (!adds && !(step && ir_kind_of(m, step) == IR_OP_SUBTRACT)) return 0;
  ir_value x = ir_operand(m, step, 0), y = ir_operand(m, step, 1);
  if (!adds) return x == arg && ir_integer_of(m, y, &by) && by != INT64_MIN ? -by : 0;
  bool grows = (x == arg && ir_integer_of(m, y, &by)) || (y == arg && ir_integer_of(m, x, &by));
  return grows ? by : 0;
}

/* first, first + by, ... as long as it is `direction` of bound; -1: for ever, or too often. */
static int64_t count(int64_t first, int64_t by, ir_direction direction, int64_t bound) {
  bool up = direction == IR_LT || direction == IR_LE;
  int64_t distance, one_more = direction == IR_LE || direction == IR_GE;
  if (!up && direction != IR_GT && direction != IR_GE) return -1;
  if (up ? __builtin_sub_overflow(bound, first, &distance)
         : __builtin_sub_overflow(first, bound, &distance))
    return -1;
  if (__builtin_add_overflow(distance, one_more, &distance)) return -1;
  if (distance <= 0) return 0;
  if (by == INT64_MIN || (by > 0) != up) return -1;
  int64_t step = by > 0 ? by : -by;
  assert(step > 0 && distance > 0); /* it comes nearer to its bound */
  return distance / step + (distance % step != 0);
}

int64_t ir_trips(const ir_module *m, ir_op loop) {
  ir_block cond = ir_body(m, loop);
  ir_op test = ir_value_get(m, ir_operand(m, ir_terminator(m, cond), 0))->op;
  ir_direction direction;
  ir_compare_type type;
  if (!test || ir_kind_of(m, test) != IR_OP_COMPARE || !ir_compare_kind(m, test, &direction, &type))
    return -1;
  ir_value x = ir_operand(m, test, 0), y = ir_operand(m, test, 1);
  uint32_t carry;
  if (!is_carry(m, loop, x, &carry)) {
    ir_value t = x;
    x = y, y = t;
    direction = ir_mirrored(direction);
  }
  int64_t first, bound;
  if (!is_carry(m, loop, x, &carry) || !ir_integer_of(m, y, &bound) ||
      !ir_integer_of(m, ir_operand(m, loop, carry), &first))
    return -1;
  int64_t by = growth_of(m, loop, carry);
  return by ? count(first, by, direction, bound) : -1;
}

bool ir_has_unknown_trips(const ir_module *m) {
  for (ir_op op = 1; op < m->ops.count; op++)
    if (ir_op_get(m, op)->block && ir_kind_of(m, op) == IR_OP_WHILE && ir_trips(m, op) < 0)
      return true;
  return false;
}
