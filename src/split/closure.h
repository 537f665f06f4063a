/* The members of a region: every op that makes or uses a large value of it at a traced position,
 * from the seed on. */
#ifndef WEIR_SPLIT_CLOSURE_H
#define WEIR_SPLIT_CLOSURE_H
#include "split/region.h"

/* Fills members and instances, or the region has failed. */
void split_close(split_region *r);

/* Its windows lack elements of their slices: it puts nothing out. */
bool split_is_partial(const split_region *r, const split_member *member);
/* Some member of the op is not partial. */
bool split_has_whole_member(const split_region *r, ir_op op);

#endif
