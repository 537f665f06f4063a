/* Manual computations (shard_map) in a program that is divided over devices: what stands in their
 * bodies is each device's already, along their own axes. A round along such axes divides operands
 * and results alone, a round along other axes the body, too. Once all rounds are over the bodies
 * take the computations' places. */
#ifndef WEIR_PIPELINE_MANUAL_H
#define WEIR_PIPELINE_MANUAL_H
#include "pipeline/division.h"

/* The mesh must be known. Its own axes, as bits; those of all around it. */
uint32_t manual_axes(const division *d, ir_op op);
uint32_t manual_axes_around(const division *d, ir_op op);
bool manual_is_whole(const division *d, uint32_t axes); /* all of the mesh */

/* The sharding of operand or result i. */
const char *manual_sharding(const division *d, ir_op op, bool of_result, uint32_t i);
/* Of axes along a dimension, those that are the computation's own, which come first, and the rest.
 */
void manual_part(const division *d, ir_op op, const ir_axes *axes, ir_axes *out_own,
                 ir_axes *out_rest);
/* The dimension of operand or result i that the round divides, or DIVISION_WHOLE. */
int32_t manual_dim(const division *d, ir_op op, bool of_result, uint32_t i);

/* Whether all operands in and below the block have the types of what stands for them in the bodies,
 * results likewise; bodies in the place of such. */
bool manual_are_divided(const ir_module *m, ir_block block);
void manual_inline_all(arena *a, ir_module *m, ir_block block);

#endif
