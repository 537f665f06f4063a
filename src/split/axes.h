/* Steps that read their state along one axis first, and what they make of it along another:
 *
 *   while { x = a x;  x = x b }         is         while { while once { x = a x }
 *                                                          while once { x = x b } }
 *
 * Columns of a x are made of the same columns of x, rows of x b of the same rows: each leg can
 * write over what it reads (ir/in_place.h, split/halo.h), slice by slice, though the step can't. As
 * a while of its own a leg is what regions end at, and what it begins with is a state like any
 * other. XLA takes whiles of one trip apart.
 *
 * A leg ends with a value of the state's type that all goes through which the step makes of the
 * leg's beginning; it is the longest of which a slice is made of a slice along one and the same
 * dimension. Values that no leg but one needs are made in it.
 */
#ifndef WEIR_SPLIT_AXES_H
#define WEIR_SPLIT_AXES_H
#include "ir/ir.h"

/* Of whiles below the block whose states are larger than the threshold. How many legs there are
 * now. Cost: for each state, the values of its type in the body, times the body's ops. */
int32_t split_part_axes(ir_module *m, ir_block top, int64_t threshold_bytes);

#endif
