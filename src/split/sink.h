/* Sinking: a large value that a while, case or if only reads is computed anew inside it, so that it
 * can be split there. */
#ifndef WEIR_SPLIT_SINK_H
#define WEIR_SPLIT_SINK_H
#include "ir/ir.h"

/* Moves copies of the large ops behind `seed` (a value of the block) into every region that reads
 * it, captured or as a loop-invariant carry; small values, arguments and constants are captured.
 * False if no region reads it or an op on the way must not be repeated. Costs its computation once
 * a trip: for when it can't be held. */
bool split_sink(ir_module *m, ir_block block, ir_value seed, int64_t threshold_bytes);

#endif
