/* What is compared: two values; or what comes of their difference or quotient, and of numbers, with
 * a number, where rounding may decide as the two are the same. A difference's may have steps, too.
 *
 *   is      s >= t;  s - t == 0;  exp(s - t) == 1;  max(s - t, 0) > 0;  s / t >= 1
 *   is      1 / (1 + exp(t - s)) > .5;  sign(s - t)
 *   is not  abs(s - t) < .1;  s / t > .5;  exp(s - t) > .2;  floor(16 * s / t)
 */
#ifndef WEIR_IR_COMPARES_H
#define WEIR_IR_COMPARES_H
#include "ir/ir.h"

/* All elements are one number. */
bool ir_is_number(const ir_module *m, ir_value v);

/* The op whose first two operands op compares, of the same shape as its own: op itself, a
 * comparison, or a difference or quotient in its block. IR_NONE: it compares nothing. Cost: O(1).
 */
ir_op ir_compares_by(const ir_module *m, ir_op op);
/* Likewise, where it matters how both are rounded: floats, none of them a number. */
ir_op ir_compares_rounded_by(const ir_module *m, ir_op op);

#endif
