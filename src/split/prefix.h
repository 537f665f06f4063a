/* Prefix sums along the factor (cumsum, cumprod, cummax, cumlogsumexp; from either end): a
 * reduce_window whose windows reach from one end of the dimension to the element.
 *
 *   y[i] = x[0] . x[1] . .. . x[i]     a trip: y[lo..] = before . prefixes of x[lo..]
 *
 * The trips run in order, and each needs what stands before its slice, which is carried: one
 * element along the factor, the last of the slice or, where the last slice begins before its `lo`,
 * one in its midst.
 *
 * Where the same values are read some indices behind, too, `before` is as many elements, and all of
 * the trip before is carried:
 *
 *   carry = [before, y of the slice]
 *   before of the next trip = carry[start - (lo - slice)]
 *
 * That read is a part of the carry: nothing is made again, and both see the same to the bit.
 *
 * Exact, but sums of floats are rounded in another order; of f16 and bf16 they are carried in f32.
 */
#ifndef WEIR_SPLIT_PREFIX_H
#define WEIR_SPLIT_PREFIX_H
#include "split/monoid.h"

typedef enum split_direction { SPLIT_NO_PREFIX, SPLIT_FORWARD, SPLIT_BACKWARD } split_direction;

/* Whether the op, a reduce_window, is a prefix sum along dim that can be carried, and from where.
 */
split_direction split_prefix_along(ir_module *m, ir_op op, int64_t dim);
/* What the first trip begins with, built outside the loop from the op's initial value as it stands
 * there. Reads up to `behind` indices behind can be taken from the carry. */
ir_value split_prefix_init(ir_builder *b, ir_op op, split_pos pos, int64_t slice, int64_t behind,
                           ir_value initial);
/* One trip: the op's result on its operands inside the loop; *carry in, and out for the next. */
ir_value split_prefix_step(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                           const ir_value *operands, ir_value *carry);
/* The op's result so many indices behind what the step has made, of the carry that came out. */
ir_value split_prefix_behind(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                             int64_t behind, ir_value carry);

#endif
