/* Whiles most of whose time XLA takes to start the ops of a step, one by one: it makes one function
 * of such a while, of its own or if it is told so. docs/design/functions.md. */
#ifndef WEIR_LIMIT_STEPS_H
#define WEIR_LIMIT_STEPS_H
#include "pipeline/pipeline.h"

/* Whether XLA makes a function of a while of m: its steps are few ops, touch little, and are such
 * that XLA has code for in a function. is_told: as it does where it is told to
 * (candidate.in_functions), else of its own. Cost: a pass over the ops of each while. */
bool steps_are_short(const job *j, ir_module *m, bool is_told);
/* Whether it may where it is told to, by what of their ops it may fuse; not where it may make one,
 * too, that takes long to compile. */
bool steps_may_be_short(const job *j, ir_module *m);
/* All products of m are such that loops do them as fast as a library, which does some of them
 * untold. */
bool steps_have_small_products(ir_module *m);

#endif
