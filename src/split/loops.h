/* weir.loop: a region as an op, one per stage.
 *
 *   %outs = "weir.loop"(%inputs..., %initial_carries...) ({
 *     ^bb0(%start: tensor<i64>, %lo: tensor<i64>, %input_or_slice..., %carry...):
 *       ...
 *       "weir.yield"(%slice_of_result_or_next_carry...)
 *   }) {extent, slice, in_dims, in_units, out_dims, out_units [, scratch] [, kernel_ns]
 *      [, agree]}
 *
 * Trips t = 0 .. ceil(extent / slice) - 1; lo = t * slice; start = min(lo, extent - slice). Input i
 * is whole (in_dims[i] = -1) or its slice [start * unit, (start + slice) * unit) of that dimension.
 * Result j is written in that range of out_dims[j], a later trip overwriting the overlap with equal
 * values, or is a carry (-1), matched in order with the initial values. All that the body reads
 * comes through operands. scratch: bytes beside the results that it needs as a kernel, which holds
 * no slices (pipeline/kernels.h); negative: it can't be one. kernel_ns: how long it is predicted to
 * take as one. Kernels are made from `whole` (ir/ir.h), the body as one trip over the extent, which
 * is no region of the op and is not printed (docs/design/kernel.md); a loop of one trip has none.
 * agree: it makes sums that other loops make, too, and compare: either all of these become kernels
 * or none (split/agreement.h).
 */
#ifndef WEIR_SPLIT_LOOPS_H
#define WEIR_SPLIT_LOOPS_H
#include "split/region.h"

/* Whether a loop around the op becomes a kernel (scratch): what it was split into further is not
 * run. */
bool split_is_in_kernel(const ir_module *m, ir_op op);

/* Rewrites the region's block: its members become loops of `slice` indices a trip, their results
 * renamed, dead ops gone. The region is used up. Returns the number of loops. */
int32_t split_build_loops(split_region *r, int64_t slice);

/* How a value in a loop is held in memory for all who read it (split/agreement.h, ir/in_place.h).
 */
typedef enum split_keeping {
  SPLIT_KEEPS_NOTHING,
  SPLIT_KEEPS_BY_CALL,   /* that XLA may not inline: on CPUs, where barriers go before fusion */
  SPLIT_KEEPS_BY_BARRIER /* on devices, where they go after it */
} split_keeping;

/* Every weir.loop of the module becomes one stablehlo.while: inputs sliced by dynamic_slice,
 * results updated in place by dynamic_update_slice. */
void split_lower_loops(ir_module *m, split_keeping keeping);

#endif
