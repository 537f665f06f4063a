/* Loops as tiles: the rewrite, and what XLA calls when the program runs. docs/design/tile.md. */
#ifndef WEIR_TILES_H
#define WEIR_TILES_H
#include "ir/ir.h"
#include "machine/machine.h"

typedef struct tiles_made {
  int32_t count;  /* loops that became custom calls */
  double time_ns; /* predicted, of all of these */
} tiles_made;

/* Every weir.loop that tiles cover and that is predicted to run at least `least_gain` times as fast
 * on the machine becomes a custom call, or two. Others stay. */
tiles_made tiles_replace_loops(ir_module *m, const machine *on, double least_gain);

/* Gives every weir.loop that has none its attribute `scratch` (split/loops.h): whether it would.
 * True if all would. */
bool tiles_mark_loops(ir_module *m, const machine *on, double least_gain);

/* Whether all loops would become one that have to make values alike (split/alike.h). After
 * tiles_mark_loops. */
bool tiles_are_alike(const ir_module *m);

/* Whether tiles cover the op where they cover what is around it. Cheap. */
bool tiles_cover_op(const ir_module *m, ir_op op);

#endif
