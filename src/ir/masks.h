/* Products with masks: numbers that were converted from i1.
 *
 *   x * convert(p)                        =  select(p, x, 0)
 *   sum(x * convert(p)), a dot_general    =  sum(select(p, x, 0) * convert(p))
 *
 * The two sides differ where p is false: of x infinite or NaN, 0 for NaN, and in the sign of zeros.
 * XLA's simplifier selects in every program, where it sees the convert beside the product: one
 * which masks what it divided by zero has no NaN in stock. Where we part the two, or compute the
 * product ourselves, we select. A dot that keeps no dimension of one side alone is made a product
 * and a sum by XLA first. Where its sides have their dimensions in different orders, XLA transposes
 * those whose batch dimensions are not in front of the contracted ones, in order: it does not know
 * a mask again behind that. Left alone, as by XLA: bf16 and sums of f16, which it widens first, so
 * that masks are converted twice; masks that are repeated, which it converts first. Source: XLA's
 * algebraic_simplifier.cc, HandleMultiply and HandleDot.
 */
#ifndef WEIR_IR_MASKS_H
#define WEIR_IR_MASKS_H
#include "ir/ir.h"

/* v is convert(p), maybe with dimensions of length 1 put in behind: what XLA knows as a mask. */
bool ir_is_converted_mask(const ir_module *m, ir_value v);

/* A product that selects by operand `side`, 0 or 1, if that is a mask. */
bool ir_selects_by(const ir_module *m, ir_op op, uint32_t side);

enum { IR_NO_SIDE = 2 };
/* The operand that is a converted mask by which the product selects; IR_NO_SIDE: none is. */
uint32_t ir_mask_side(const ir_module *m, ir_op op);

/* operands[1 - side] where the mask operands[side] is not 0, else 0. They are the product's, or
 * slices of these. */
ir_value ir_build_masked(ir_builder *b, ir_op product, const ir_value *operands, uint32_t side);

/* By which side the op is to select; IR_NO_SIDE: it is left alone. */
typedef uint32_t ir_side_of(const void *user, const ir_module *m, ir_op op);

/* Products in the block, but not below it, select. Linear time. */
void ir_select_masked(ir_module *m, ir_block block, ir_side_of *side_of, const void *user);

#endif
