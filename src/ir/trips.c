/* How often a while runs: a carry that begins at a constant, grows or falls by a constant and is
 * compared with another. */
#include <math.h>

#include "ir/attrs.h"

enum { MOST_STEPS = 256 }; /* values that a mean is looked for in */

static bool is_carry(const ir_module *m, ir_op loop, ir_value v) {
  return ir_value_get(m, v)->block == ir_body(m, loop); /* by what its condition has of it */
}

/* A carry of the while that its trips change. */
static bool is_changing(const ir_module *m, ir_op loop, ir_value v, uint32_t *out_index) {
  *out_index = ir_value_get(m, v)->index;
  return is_carry(m, loop, v) && !ir_is_handed_on(m, ir_while_body(m, loop), *out_index);
}

int64_t ir_growth(const ir_module *m, ir_op loop, uint32_t carry) {
  ir_block body = ir_while_body(m, loop);
  ir_value arg = ir_argument(m, body, carry);
  ir_op step = ir_value_get(m, ir_yielded(m, body, carry))->op;
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

typedef struct condition { /* a carry that is compared with a bound */
  uint32_t carry;
  ir_direction direction;
  ir_value bound;
} condition;

static bool read_condition(const ir_module *m, ir_op loop, condition *out) {
  ir_value goes_on = ir_yielded(m, ir_body(m, loop), 0);
  ir_op test = ir_comparison(m, goes_on, &out->direction);
  if (!test) return false;
  ir_value x = ir_operand(m, test, 0);
  out->bound = ir_operand(m, test, 1);
  if (is_changing(m, loop, x, &out->carry)) return true;
  out->direction = ir_mirrored(out->direction);
  x = out->bound;
  out->bound = ir_operand(m, test, 0);
  return is_changing(m, loop, x, &out->carry);
}

/* The bound is one number whenever the condition is asked. */
static bool has_fixed_bound(const ir_module *m, ir_op loop, ir_value bound, int64_t *out) {
  uint32_t carry;
  if (is_carry(m, loop, bound) && !is_changing(m, loop, bound, &carry))
    bound = ir_operand(m, loop, carry);
  return ir_integer_of(m, bound, out);
}

/* It leaves its type's range before it ends, and begins anew at the other end. */
static bool wraps(const ir_counter *c, ir_dtype dtype) {
  int64_t last;
  return __builtin_mul_overflow(c->trips, c->by, &last) ||
         __builtin_add_overflow(last, c->first, &last) || last < ir_lowest(dtype) ||
         last > ir_highest(dtype);
}

bool ir_find_counter(const ir_module *m, ir_op loop, ir_counter *out) {
  condition c;
  int64_t bound;
  if (!read_condition(m, loop, &c) || !has_fixed_bound(m, loop, c.bound, &bound) ||
      !ir_integer_of(m, ir_operand(m, loop, c.carry), &out->first))
    return false;
  out->carry = c.carry;
  out->by = ir_growth(m, loop, c.carry);
  out->trips = out->by ? count(out->first, out->by, c.direction, bound) : -1;
  return out->trips >= 0 && !wraps(out, ir_type_at(m, ir_operand(m, loop, c.carry))->dtype);
}

int64_t ir_trips(const ir_module *m, ir_op loop) {
  ir_counter c;
  return ir_find_counter(m, loop, &c) ? c.trips : -1;
}

/* ---- on the average: what begins or ends where the counters of the whiles around it stand ---- */
typedef struct average {
  const ir_module *m;
  int32_t steps; /* that it may take yet */
} average;

static double mean_of(average *a, ir_value v);

static double mean_trips(average *a, ir_op loop) {
  const ir_module *m = a->m;
  condition c;
  if (ir_kind_of(m, loop) != IR_OP_WHILE || !read_condition(m, loop, &c)) return NAN;
  int64_t by = ir_growth(m, loop, c.carry);
  bool up = c.direction == IR_LT || c.direction == IR_LE;
  bool ends = up ? by > 0 : by < 0 && (c.direction == IR_GT || c.direction == IR_GE);
  if (!ends) return NAN;
  double distance = mean_of(a, c.bound) - mean_of(a, ir_operand(m, loop, c.carry));
  double trips = distance / (double)by + (c.direction == IR_LE || c.direction == IR_GE);
  return trips < 0 ? 0 : trips; /* NaN stays */
}

/* Whether it is the counter of a while, which ends at *out_bound, but for its last step. */
static bool is_end_of(const ir_module *m, ir_value v, ir_value *out_bound) {
  const ir_value_data *d = ir_value_get(m, v);
  condition c;
  bool is = d->op && ir_kind_of(m, d->op) == IR_OP_WHILE && read_condition(m, d->op, &c) &&
            c.carry == d->index;
  if (is) *out_bound = c.bound;
  return is;
}

/* Of a block's argument: of what no trip changes, of a counter, or of one that a while inside goes
 * on with, by equal numbers of trips. */
static double mean_of_argument(average *a, const ir_value_data *d) {
  const ir_module *m = a->m;
  ir_op loop = ir_block_get(m, d->block)->parent;
  if (!loop || ir_kind_of(m, loop) != IR_OP_WHILE) return NAN;
  ir_block body = ir_while_body(m, loop);
  ir_value next = ir_yielded(m, body, d->index);
  double first = mean_of(a, ir_operand(m, loop, d->index));
  if (next == ir_argument(m, body, d->index)) return first;
  double trips = mean_trips(a, loop);
  int64_t by = ir_growth(m, loop, d->index);
  ir_value bound;
  if (by) return first + (double)by * (trips - 1) / 2;
  if (!is_end_of(m, next, &bound)) return NAN;
  return first + (mean_of(a, bound) - first) * (trips - 1) / (trips + 1);
}

/* The mean of an expression as if it were the expression of means. NaN: not known. */
static double mean_of(average *a, ir_value v) {
  const ir_value_data *d = ir_value_get(a->m, v);
  int64_t number;
  if (a->steps-- <= 0) return NAN;
  if (ir_integer_of(a->m, v, &number)) return (double)number;
  if (!d->op) return mean_of_argument(a, d);
  const ir_op_data *op = ir_op_get(a->m, d->op);
  if (op->kind == IR_OP_CONVERT) return mean_of(a, op->operands[0]);
  if (op->n_operands != 2) return NAN;
  double x = mean_of(a, op->operands[0]), y = mean_of(a, op->operands[1]);
  switch ((ir_kind)op->kind) {
    case IR_OP_ADD: return x + y;
    case IR_OP_SUBTRACT: return x - y;
    case IR_OP_MULTIPLY: return x * y;
    case IR_OP_DIVIDE: return y > 0 ? floor(x / y) : NAN;
    case IR_OP_MAXIMUM: return x > y ? x : y + 0 * x;
    case IR_OP_MINIMUM: return x < y ? x : y + 0 * x;
    default: return NAN;
  }
}

double ir_mean_trips(const ir_module *m, ir_op loop) {
  int64_t trips = ir_trips(m, loop);
  average a = {m, MOST_STEPS};
  return trips < 0 ? mean_trips(&a, loop) : (double)trips;
}

bool ir_has_unknown_trips(const ir_module *m) {
  for (ir_op op = 1; op < m->ops.count; op++)
    if (ir_op_get(m, op)->block && ir_kind_of(m, op) == IR_OP_WHILE && ir_trips(m, op) < 0)
      return true;
  return false;
}
