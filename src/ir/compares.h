/* What is compared: two values, or their difference with what it is where they are the same.
 *
 *   s >= t;  s - t == 0;  exp(s - t) == 1;  max(s - t, 0) > 0;  sign(s - t);  floor(s - t)
 */
#ifndef WEIR_IR_COMPARES_H
#define WEIR_IR_COMPARES_H
#include "ir/ir.h"

/* All elements are one number. */
bool ir_is_number(const ir_module *m, ir_value v);

/* The operand of which alone op is a function, element by element: the others are numbers, which
 * scale or bound it. IR_NONE: there is none such. */
ir_value ir_function_of(const ir_module *m, ir_op op);

/* The op whose first two operands op compares, of the same shape as its own: op itself, a
 * comparison, or a difference in its block. IR_NONE: it compares nothing. Cost: O(1). */
ir_op ir_compares_by(const ir_module *m, ir_op op);
/* Likewise, where it matters how both are rounded: floats, none of them a number. */
ir_op ir_compares_rounded_by(const ir_module *m, ir_op op);

#endif
