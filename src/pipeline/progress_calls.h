/* Loops that say how far they are: a custom call @weir_progress in the body of every outermost
 * loop, under WEIR_PROGRESS. Its handler draws the line, and ends the program where Ctrl-C was
 * pressed.
 */
#ifndef WEIR_PIPELINE_PROGRESS_CALLS_H
#define WEIR_PIPELINE_PROGRESS_CALLS_H
#include "ir/ir.h"

#define PROGRESS_CALL_TARGET "weir_progress"

/* In: weir.loop ops. Each outermost one of more than one trip begins with the call, on (index of
 * the trip's first element, elements a trip, elements in all). Returns how many. */
int32_t progress_add_calls(ir_module *m);

/* What a loop is called on the screen: the program, and where its result was made. */
const char *progress_label(arena *a, const ir_module *m, ir_op loop);

#endif
