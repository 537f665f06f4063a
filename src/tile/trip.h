/* What a loop's body comes down to in a single trip over the whole extent, which is how a tile runs
 * it. */
#ifndef WEIR_TILE_TRIP_H
#define WEIR_TILE_TRIP_H
#include "ir/ir.h"

/* Simplifies the body in place for start = lo = 0 and slice = extent. The loop computes something
 * else from then on if it is run in several trips. */
void tile_single_trip(ir_module *m, ir_op loop);
/* Ops whose results nobody in the body reads go; its last op stays. */
void tile_drop_unused(ir_module *m, ir_block body);

#endif
