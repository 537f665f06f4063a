/* Products with masks: numbers that were converted from i1.
 *
 *   x * convert(p)                        =  select(p, x, 0)
 *   sum(x * convert(p)), a dot_general    =  sum(select(p, x, 0) * convert(p))
 *
 * The two sides differ where p is false: of x infinite or NaN, 0 for NaN, and in the sign of zeros.
 * XLA's simplifier selects in every program, where it sees the convert beside the product: one
 * which masks what it divided by zero has no NaN in stock. Where we part the two, or compute the
 * product ourselves, we select. A dot that keeps no dimension of one side alone is made a product
 * and a sum by XLA first. Left alone, as by XLA: bf16 and sums of f16, which it widens first, so
 * that masks are converted twice; masks that are repeated, which it converts first; dots whose
 * sides have their dimensions in different orders, of which XLA selects in some. Source: XLA's
 * algebraic_simplifier.cc, HandleMultiply and HandleDot.
 */
#ifndef WEIR_IR_MASKS_H
#define WEIR_IR_MASKS_H
#include "ir/ir.h"

typedef bool ir_mask_test(const ir_module *m, ir_value v);

/* v is convert(p), maybe with dimensions of length 1 put in behind: what XLA knows as a mask. */
bool ir_is_converted_mask(const ir_module *m, ir_value v);

/* A product that selects by an operand that is a mask. */
bool ir_selects_by_masks(arena *scratch, const ir_module *m, ir_op op);

/* Products in the block, but not below it, of which the test holds of an operand: they select.
 * Linear time. */
void ir_select_masked(ir_module *m, ir_block block, ir_mask_test *is_mask);

#endif
