/* The same op on a slice of a parallel factor. */
#ifndef WEIR_SPLIT_TILE_OP_H
#define WEIR_SPLIT_TILE_OP_H
#include "split/factors.h"
#include "split/monoid.h"

/* The value's type where the factor's position holds only `slice` indices; the type itself if
 * absent. */
ir_type split_tile_type(ir_module *m, ir_type t, split_pos pos, int64_t slice);
/* Appends op on `operands` (slices where f says so) to b's block; out_results[j]: result j, a slice
 * if the factor sits on it. Sizes in attributes follow. */
void split_tile_op(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                   const ir_value *operands, ir_value *out_results);
/* Replaces entry `i` of an integer-array attribute, keeping its spelling. */
void split_set_entry(ir_module *m, ir_op op, const char *name, int32_t i, int64_t value);
/* Where a part of `part` elements of `size` begins, as dynamic_slice clamps it: i64. Not of ui64.
 */
ir_value split_clamped_start(ir_builder *b, ir_value start, int64_t size, int64_t part);
/* dynamic_slice of a part of pos.dim: the other dimensions' part of the trip's window, and where
 * the part begins along pos.dim (clamped, i64). */
ir_value split_tile_dynamic_slice(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                                  const ir_value *operands, ir_value *out_first);

#endif
