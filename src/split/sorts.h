/* Sorts along the factor, made in ascending slices: a trip has the elements of the next ranks.
 *
 *   slice of ranks [k, k + S) = the S first of all that come after the element of rank k - 1
 *
 * In which order is known: the comparator's, ties by their place in the operands, so that all
 * comes out as a stable sort has it. A trip reads the operands whole, slice by slice, and keeps
 * the S first that it has seen:
 *
 *   first = nothing
 *   for each slice x of the operands:  first = the S first of sort(first, those of x that count)
 *
 * What does not count has the largest number as its place, and is sorted behind all else. The
 * carry is as a prefix sum's (split/prefix.h): the slice of the trip before and the elements in
 * front of it, of each operand, and their places. Where the factor is mirrored, the same from the
 * last to the first.
 *
 * Exact. n elements in slices of S take (n / S)^2 sorts of 2 S: 20 times the work of the whole for
 * ten slices. No operand and no result is there as a whole if it can be made slice by slice.
 */
#ifndef WEIR_SPLIT_SORTS_H
#define WEIR_SPLIT_SORTS_H
#include "split/monoid.h"

/* Work grows with the square of the slices: there are never more. */
enum { SPLIT_MOST_SORTED_SLICES = 64 };

/* Whether dim is what the op, a sort, sorts along, by a comparator that orders all there is. */
bool split_sorts_along(ir_module *m, ir_op op, int64_t dim);
/* Whether the op is a sort that this factor goes along. */
bool split_is_sorted(const ir_module *m, ir_op op, const split_factor *f);
/* What the first trip begins with, one for each operand and one more: built outside the loop.
 * Reads up to `behind` indices behind can be taken from the carry. */
void split_sort_init(ir_builder *b, ir_op op, split_pos pos, int64_t slice, int64_t behind,
                     ir_value *out_carries);
/* One trip: the op's results at pos, from its whole operands; carries in, and out for the next. */
void split_sort_step(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                     const ir_value *operands, ir_value *carries, ir_value *out_results);
/* A result so many indices behind what the step has made, of the carry that came out. */
ir_value split_sort_behind(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                           int64_t behind, ir_value carry);

#endif
