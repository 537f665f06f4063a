/* Totals: sums that a while carries for linear readers, which are added up as these want them.
 *
 *   while(i, S = s0) { i + 1, S + u }             while(i, P = 0) { i + 1, P + x^T u }
 *   y = x^T (a + S)                        ->     y = x^T (a + s0) + P
 *
 * The gradient with respect to a matrix that all steps of a scan read is such a sum; what reads it,
 * the gradient of what the matrix is made of, is often far smaller. u is split in the body then
 * like anything else. */
#ifndef WEIR_SPLIT_ACCUMULATOR_H
#define WEIR_SPLIT_ACCUMULATOR_H
#include "ir/ir.h"

/* Whether the op is a while that only adds to the carry, and all readers of its result `carry` are
 * linear up to where they are a quarter of its size or less, together no more than half of it. */
bool split_can_sink_accumulator(ir_module *m, ir_op loop, uint32_t carry);

/* Rewrites it and its readers. Costs the readers' work once a trip; sums are rounded in another
 * order, and where a reader divides by 0 or multiplies by an infinity, the result may be NaN in
 * place of infinite: one trip's part may be 0. */
void split_sink_accumulator(ir_module *m, ir_op loop, uint32_t carry);

#endif
