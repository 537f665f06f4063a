/* Gather and scatter where the factor sits on a dimension that the index vectors name: the loop has
 * a slice of that dimension, and all indices.
 *
 *     scatter, parallel: indices counted from the slice's start; what is not in the slice is out of
 *                        bounds, where scatter drops it. A single window is written within bounds
 *                        in any case, and what the slice had is selected where it should not be
 *     gather, reduced:   each trip reads those that lie in its slice, all others stay as carried
 */
#ifndef WEIR_SPLIT_INDICES_H
#define WEIR_SPLIT_INDICES_H
#include "ir/attrs.h"
#include "split/monoid.h"

/* Whether dimension `dim` of operand 0 is one that indices name, element by element, in integers
 * that can be counted on (anything but ui64). */
bool split_is_indexed_dim(const ir_module *m, ir_op op, const ir_gather_numbers *n, int64_t dim);

/* Scatter's indices as they are inside the trip, i64. */
ir_value split_scatter_indices(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                               ir_value indices);

/* operands, results: of the scatter inside the trip. Takes back what was written for an index that
 * is not in the slice. */
void split_scatter_undo(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                        const ir_value *operands, ir_value *in_out_results);

/* carry, with what `x`, a slice of gather's operand, has of it. */
ir_value split_gather_step(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                           ir_value x, ir_value indices, ir_value carry);

#endif
