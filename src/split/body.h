/* A while as an op with parallel factors: its carries may be sliced if every trip keeps the factor
 * where it is.
 *
 *   while(i, x, y) { i + 1, f(x, y), g(x, y) }
 *
 * for elementwise f and g: all of x and y's dimensions are factors of the while itself, so it runs
 * on a slice (the rounds of a random number generator, bisections, fixed numbers of Newton steps).
 * The condition must not look at what is sliced, and nothing in the body
 * may reduce over the factor or read a value both sliced and whole.
 */
#ifndef WEIR_SPLIT_BODY_H
#define WEIR_SPLIT_BODY_H
#include "split/monoid.h"

/* The factor at `pos` of carry `carry`: its position on every operand and result of the while.
 * False if the while can't be sliced by it. */
bool split_body_trace(arena *scratch, ir_module *m, ir_op loop, uint32_t carry, split_pos pos,
                      split_factor *out);

/* The while on slices of its operands. */
void split_body_narrow(ir_builder *b, ir_op loop, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *out_results);

#endif
