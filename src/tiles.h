/* Loops as tiles: the rewrite, and what XLA calls when the program runs. docs/design/tile.md. */
#ifndef WEIR_TILES_H
#define WEIR_TILES_H
#include "ir/ir.h"

/* Every weir.loop that tiles cover and that is predicted to run at least `least_gain` times as fast
 * becomes a custom call, or two; returns how many did. Others stay. *out_loops: those, of the
 * module's arena. */
int32_t tiles_replace_loops(ir_module *m, double least_gain, const ir_op **out_loops);

#endif
