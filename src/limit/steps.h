/* Programs that fit, most of whose time XLA takes to start the ops of a while's steps, one by one:
 * it makes one function of the while, if it is told so. docs/design/functions.md. */
#ifndef WEIR_LIMIT_STEPS_H
#define WEIR_LIMIT_STEPS_H
#include "pipeline/pipeline.h"

/* Whether a while of the program as it came may be one function: its steps touch CPU_STEP_BYTES at
 * most, are few ops, and all of them such that XLA has code for in a function. Cost: a pass over
 * the ops of each while. */
bool steps_are_short(const job *j);

#endif
