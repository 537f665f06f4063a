/* A while as an op with parallel factors: its carries may be sliced if every trip keeps the factor
 * where it is, and others may be sums over the factor.
 *
 *   while(i, x, y) { i + 1, f(x, y), g(x, y) }
 *
 * for elementwise f and g: all of x and y's dimensions are factors of the while itself, so it runs
 * on a slice (the rounds of a random number generator, bisections, fixed numbers of Newton steps).
 *
 *   while(i, x, w) { i + 1, f(x), w + x^T g(x) }
 *
 * on a slice of x's rows has a part of the sum in w: gradients of weights in the loop that goes
 * back in time. Parts go through what is linear in them (moves, sums, products with what is whole),
 * and nothing else may read them: the trips of one slice know nothing of the others. A carry that
 * comes back with parts added goes on from slice to slice; one that begins with zeros is added up.
 *
 * The condition must not look at what is sliced or summed, unless it asks whether any row goes on
 * and rows that are done stay as they are (ir/frozen.h); then there are no sums. Nothing in the
 * body may read a value both sliced and whole. Branches in the body are followed, if all slices
 * take the same one.
 */
#ifndef WEIR_SPLIT_BODY_H
#define WEIR_SPLIT_BODY_H
#include "split/monoid.h"

/* The factor at `pos` of carry `carry`: its position on every operand and result of the while.
 * False if the while can't be sliced by it. */
bool split_body_trace(arena *scratch, ir_module *m, ir_op loop, uint32_t carry, split_pos pos,
                      split_factor *out);

/* Of a value of the body, for a factor that was found: it is sliced, or a part of a sum. */
bool split_body_slices(const split_factor *f, ir_value v);

/* The while on slices of its operands. */
void split_body_narrow(ir_builder *b, ir_op loop, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *out_results);

#endif
