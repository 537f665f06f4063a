/* Sums of one block's loops that are only added to each other, or are parts of one tensor: carried
 * as one.
 *
 *   A += x;  B += y                                A += x;  A += y
 *   z = A + B                              ->      z = A
 *
 *   A += x;  B += y                                C[0] += x;  C[1] += y
 *   z = pad(A) at 0 + pad(B) at 1          ->      z = C
 *
 * The gradient of weights that several layers share is such a sum, with a carry for each layer;
 * that of weights which are cut from a stack is made of such parts. */
#ifndef WEIR_SPLIT_JOINED_H
#define WEIR_SPLIT_JOINED_H
#include "ir/ir.h"

/* Of the block's weir.loops from the op `first` on that no kernel is made of, carries that begin
 * with 0 and become something above the threshold, of which they are half or more. A loop goes on
 * with what those before it came to. They are rounded in another order. Each sum is held apart, or
 * XLA would make all that is added before it adds the first. What lost its uses stays for dce.
 * Returns how many carries went or became larger. Cost: linear in the block, and in the parts that
 * each carry becomes one of. */
int32_t split_join_sums(ir_module *m, ir_block block, ir_op first, int64_t threshold_bytes);

#endif
