/* What integers and truth values can be: the smallest and the largest number that any element of a
 * value is, from constants, iotas, prefix counts and the ops behind them.
 *
 * Ops are noted in the order of the program; what was not noted can be all that its type has. Cost:
 * O(operands) an op.
 */
#ifndef WEIR_PASS_RANGES_H
#define WEIR_PASS_RANGES_H
#include "ir/ir.h"

typedef struct pass_range {
  int64_t lo, hi;
} pass_range;

typedef struct pass_bounds {
  arena *a;
  ir_module *m;
  VEC(pass_range) known; /* by value; lo > hi: not known */
} pass_bounds;

pass_bounds pass_bounds_make(arena *a, ir_module *m);
void pass_bounds_note(pass_bounds *r, ir_op op);
/* Of integers and i1; of anything else, and of ui64, all of int64. */
pass_range pass_range_of(const pass_bounds *r, ir_value v);
/* The operand that the op's result is, element by element, since it decides nothing: a select one
 * of whose sides is never taken, a maximum below which nothing lies; IR_NONE. */
ir_value pass_bounds_forward(const pass_bounds *r, ir_op op);

#endif
