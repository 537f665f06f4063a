/* Along which axes of a mesh devices have other values: bits, the mesh's first axis the lowest. */
#ifndef WEIR_PIPELINE_VARYING_H
#define WEIR_PIPELINE_VARYING_H

#include "ir/ir.h"

/* On a collective: its results are the same along these axes. On the conversion that makes a
 * device's number: it is counted along them. */
void varying_say(ir_module *m, ir_op op, uint32_t axes);
uint32_t varying_said(const ir_module *m, ir_op op); /* 0: nothing */
/* On a manual computation, by result: it is a part along these axes. own: the computation's. */
void varying_say_each(ir_module *m, ir_op op, const int64_t *axes, uint32_t own);
uint32_t varying_said_of(const ir_module *m, ir_op op, uint32_t i); /* 0: nothing */
void varying_forget(ir_module *m, ir_op op);

/* By value: what those of the block and all below vary along, if its arguments do along of_args (by
 * index). What is not said to be the same varies as what it reads. Cost: linear, but for whiles,
 * whose bodies are gone through until nothing is news. */
uint32_t *varying_axes(arena *a, const ir_module *m, ir_block block, const uint32_t *of_args);

#endif
