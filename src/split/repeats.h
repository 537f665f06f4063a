/* How many loops a region has, and how often they make its members. */
#ifndef WEIR_SPLIT_REPEATS_H
#define WEIR_SPLIT_REPEATS_H
#include "split/region.h"

void split_count_loops(split_region *r);
/* Where each of many steps ends in a stage of its own, the loops are the square of the steps: such
 * a region fails. */
void split_refuse_repetition(split_region *r);

#endif
