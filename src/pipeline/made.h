/* What was made of a program, for people: its loops, and what they cost. */
#ifndef WEIR_PIPELINE_MADE_H
#define WEIR_PIPELINE_MADE_H
#include "pipeline/pipeline.h"

/* Of the module, before its loops are lowered, and of what `order` had done in segments. Lives as
 * long as the module. on: for predicted times; NULL: none. */
made_loops made_of_split(ir_module *m, const split_order *order, const machine *on);
/* Whether a loop repeats a while in each trip, or a while was cut into segments. */
bool made_has_whiles(const ir_module *m, const split_order *order);
/* A loop that kernels_replace_loops has made a kernel of, added to the list, in its arena. */
void made_add_kernel(arena *a, ir_module *m, ir_op loop, const machine *on, made_loops *list);
/* A list that lives as long as the arena. */
made_loops made_copy(arena *a, const made_loops *list);

#endif
