/* Sums of one loop that are only added to each other: carried as one.
 *
 *   A += x;  B += y                                A += x;  A += y
 *   z = A + B                              ->      z = A
 *
 * The gradient of weights that several layers share is such a sum, with a carry for each layer. */
#ifndef WEIR_SPLIT_JOINED_H
#define WEIR_SPLIT_JOINED_H
#include "ir/ir.h"

/* Of the block's weir.loops from the op `first` on that no kernel is made of, carries above the
 * threshold that begin with 0. They are rounded in another order. Each sum is held apart, or XLA
 * would make all that is added before it adds the first. What lost its uses stays for dce. Returns
 * how many carries went. Cost: linear in the block. */
int32_t split_join_sums(ir_module *m, ir_block block, ir_op first, int64_t threshold_bytes);

#endif
