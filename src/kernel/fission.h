/* A loop in two: what its trips put out slice by slice first, then what they carry.
 *
 * In: a weir.loop. Out: two that compute the same, the second with the sliced results of the first
 * as inputs; what both need is computed by both. Where statistics along one axis go into statistics
 * along the other (Sinkhorn's steps), no nest covers the whole, but one covers each part. What one
 * part selects the other may compare with what both make: so they agree, as loops of a region do
 * (split/agreement.h).
 */
#ifndef WEIR_KERNEL_FISSION_H
#define WEIR_KERNEL_FISSION_H
#include "ir/ir.h"

/* The parts stand in no block yet; result j of the loop is out_results[j] of theirs. False, and
 * nothing is made: it has no results of one kind, or a sliced one is made from carries. */
bool kernel_fission(ir_module *m, ir_op loop, ir_op out_parts[2], ir_value *out_results);

#endif
