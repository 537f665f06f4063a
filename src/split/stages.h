/* In which stage each member of a region is done, and from which on a loop has a value: made in its
 * body or read from outside. */
#ifndef WEIR_SPLIT_STAGES_H
#define WEIR_SPLIT_STAGES_H
#include "split/region.h"

/* Of all members and of what each loop can read; fails where a member would wait for itself. */
void split_find_stages(split_region *r);

/* The first stage whose loop can have the value at this position, made in it or read from outside.
 */
int32_t split_instance_stage(split_region *r, ir_value v, split_pos pos);
int32_t split_outside_stage(split_region *r, ir_value v);
/* Whether a loop before that of `stage` put it out for this one: a span of it has the stage
 * (split/spans.h). */
bool split_is_cut_before(split_region *r, ir_value v, int32_t stage);
/* Whether the loop of `stage` computes the instance itself rather than reads it from outside; a sum
 * that is passed on there is in its carry. */
bool split_is_inside(split_region *r, ir_value v, split_pos pos, int32_t stage);
/* The op's member that is reduced in this stage; NULL: none is. */
const split_member *split_reduced_member(const split_region *r, ir_op op, int32_t stage);

#endif
