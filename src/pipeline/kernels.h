/* Loops as kernels: the rewrite, and what XLA calls when the program runs. docs/design/emitter.md.
 */
#ifndef WEIR_PIPELINE_KERNELS_H
#define WEIR_PIPELINE_KERNELS_H
#include "ir/ir.h"
#include "machine/machine.h"

typedef struct kernels_made {
  int32_t count;  /* loops that became custom calls */
  double time_ns; /* predicted, of all of these */
} kernels_made;

/* Every weir.loop that kernels cover and that is predicted to run at least `least_gain` times as
 * fast on the machine becomes a custom call, or two. Others stay. */
kernels_made kernels_replace_loops(ir_module *m, const machine *on, double least_gain);

/* Gives every weir.loop that has none its attribute `scratch` (split/loops.h): whether it would.
 * True if all would. *in_out_spurns becomes true where one would if it might gain less. */
bool kernels_mark_loops(ir_module *m, const machine *on, double least_gain, bool *in_out_spurns);

/* Whether all loops would become one that have to agree on values (split/agreement.h). After
 * kernels_mark_loops. */
bool kernels_agree(const ir_module *m);

/* Whether kernels cover the op where they cover what is around it. Cheap. */
bool kernels_cover_op(const ir_module *m, ir_op op);

#endif
