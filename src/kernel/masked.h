/* Products with masks, as XLA makes them.
 *
 *   x * convert(p)  =  select(p, x, 0)      p: of i1
 *
 * The two differ where x is infinite or NaN and p is false, 0 for NaN, and in the sign of zeros.
 * XLA's simplifier does so in every program, so that one which masks what it divided by zero has no
 * NaN in stock, and would have them as a kernel. Left alone: bf16, whose products XLA CPU makes in
 * f32, of masks converted twice. In: the body of a loop, before 16-bit floats are promoted. Linear
 * time. Source: XLA's algebraic_simplifier.cc, HandleMultiply.
 */
#ifndef WEIR_KERNEL_MASKED_H
#define WEIR_KERNEL_MASKED_H
#include "ir/ir.h"

void kernel_select_masked(ir_module *m, ir_op loop);

#endif
