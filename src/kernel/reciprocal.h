/* Quotients by constants, as XLA makes them.
 *
 *   x / c  =  x * (1 / c)      c: one number; 1 / c is rounded, finite and normal
 *
 * XLA's simplifier does so in every program, whatever c is, so a kernel that divided would be
 * slower and would differ from stock by a rounding. In: the body of a loop, before 16-bit floats
 * are promoted; these stay. Linear time. Source: XLA's algebraic_simplifier.cc, HandleDivide.
 */
#ifndef WEIR_KERNEL_RECIPROCAL_H
#define WEIR_KERNEL_RECIPROCAL_H
#include "ir/ir.h"

void kernel_multiply_by_reciprocals(ir_module *m, ir_op loop);

#endif
