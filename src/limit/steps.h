/* Programs that fit, most of whose time XLA takes to start the ops of a while's steps, one by one:
 * it makes one function of the while, if it is told so. docs/design/functions.md. */
#ifndef WEIR_LIMIT_STEPS_H
#define WEIR_LIMIT_STEPS_H
#include "pipeline/pipeline.h"

/* Whether a while of m may be one function where XLA makes one of steps that touch so many bytes
 * (CPU_STEP_BYTES, CPU_OWN_STEP_BYTES): they are few ops, and all of them such that XLA has code
 * for in a function. Cost: a pass over the ops of each while. */
bool steps_are_short(const job *j, ir_module *m, int64_t most_bytes);

#endif
