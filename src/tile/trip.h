/* A loop's body as a kernel can read it: a function of an index of the whole extent. */
#ifndef WEIR_TILE_TRIP_H
#define WEIR_TILE_TRIP_H
#include "ir/ir.h"

/* In place: where the body's slice begins, and how long it is, is left in positions (iota + start)
 * alone, or where tile_nest_of will refuse it. Slices of results stay. Sums and lists of all trips
 * are those of one trip over the extent from then on: nothing masks what the last slice has of the
 * one before. */
void tile_drop_trips(ir_module *m, ir_op loop);

#endif
