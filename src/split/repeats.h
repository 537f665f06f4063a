/* How many loops a region has, and how often they make its members. */
#ifndef WEIR_SPLIT_REPEATS_H
#define WEIR_SPLIT_REPEATS_H
#include "split/region.h"

void split_count_loops(split_region *r);
/* Of a region that has its stages and its loops: whether these make a member more often than
 * `copies` on average, and `at_least` so many in all. Cost: one look at each member of each loop,
 * as long as they do not. */
bool split_repeats(split_region *r, int32_t copies, int64_t at_least);

/* By member: whether the loops of the stage make it. */
const bool *split_made_in(split_region *r, int32_t stage);

/* By value: the last stage whose loop reads it from outside; 0: none does, or the first. Cost as of
 * split_repeats. */
const int32_t *split_last_reads(split_region *r);

#endif
