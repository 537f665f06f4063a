/* What regions ask of the module that they grow in: which values are large, and by which factor an
 * op can be done from a position of one of its values. Each question is answered once for all
 * regions of a state; a region takes what it may use (windows that shift or overlap, sorts,
 * comparisons). */
#ifndef WEIR_SPLIT_STATE_H
#define WEIR_SPLIT_STATE_H
#include "split/region.h"

/* In memory of the arena. */
split_state split_state_of(arena *a, const ir_module *m, int64_t threshold_bytes);
/* Users and effects become those of the block. */
void split_state_enter(split_state *s, const ir_module *m, ir_block block);

/* Of a value of the block: split_can_detach(). */
bool split_may_detach(split_state *s, ir_module *m, ir_value v);
/* Of a value of the block: it is but a part of a larger one: split_last_through(). */
bool split_becomes_part(split_state *s, ir_module *m, ir_value v);

bool split_is_large(const split_region *r, ir_value v);
/* Made of constants alone, where these lead to nobody: each reader makes it for itself. */
bool split_is_for_all(const split_region *r, ir_value v);
/* What a while carries on is made of what the op makes, by large values alone. */
bool split_goes_on(const split_region *r, ir_op op);
/* Whether the op can be done by the factor that is at pos on a result or an operand: parallel, or
 * merged. */
bool split_ask(split_region *r, ir_op op, bool of_result, uint32_t index, split_pos pos,
               split_factor *out);

#endif
