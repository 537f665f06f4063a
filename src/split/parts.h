/* Parts of a large value that a trip of a loop reads, made in that trip.
 *
 *   d = f(x, y)                                  while(i) { .. f(x[i], y) .. }
 *   while(i) { .. dynamic_slice(d, i, 0) .. }
 *
 * An element of each prefix sum is the sum of those that it has, not a prefix sum of all: its trips
 * cost the length each, and XLA makes what is summed where it is read.
 *
 * The steps of a scan over the rows of a distance matrix, suppression of boxes one by one, farthest
 * points: each trip reads a few rows, so a trip that made all of d anew would cost its length times
 * as much.
 */
#ifndef WEIR_SPLIT_PARTS_H
#define WEIR_SPLIT_PARTS_H
#include "ir/ir.h"

/* Replaces the dynamic slices in block `body` of stand_in, which has the value v of `block` there,
 * by the same ops on parts as have made v; what is not above the threshold, or of another block, is
 * read from outside. So is what a part needs whole, the other factor of a product. False if there
 * is none whose ops have a factor along the slice. Costs the ops on that part once a trip. */
bool split_read_parts(ir_module *m, ir_block block, ir_value v, int64_t threshold_bytes,
                      ir_block body, ir_value stand_in);
/* How many dynamic slices that would replace without what a part needs whole and is large. */
uint32_t split_count_parts(ir_module *m, ir_block block, ir_value v, int64_t threshold_bytes,
                           ir_block body, ir_value stand_in);
/* Whether a slice of v along dim can be made of slices of what v is made of, down to what is not
 * above the threshold, or of another block. */
bool split_can_make_part(ir_module *m, ir_block block, ir_value v, int32_t dim,
                         int64_t threshold_bytes);
/* A few rows of a large value that stand beside others again, a roll's:
 *
 *   concatenate(y[n - 1:], y[:n - 1]), y = f(x)      ->      concatenate(f(x[n - 1:]), y[:n - 1])
 *
 * In the block and all below. Else loops over the rows would make them in each trip, as those that
 * stand the whole length from the trip's own; now they are read. Costs the ops on these rows, at
 * most a sixteenth of all. Returns how many. */
int32_t split_make_edges(ir_module *m, ir_block block, int64_t threshold_bytes);

#endif
