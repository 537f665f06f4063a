/* The indices that the loops of a region go over: all that results put out and reductions need,
 * wherever they lie on them. */
#ifndef WEIR_SPLIT_RANGE_H
#define WEIR_SPLIT_RANGE_H
#include "split/region.h"

/* Fills begin and extent of a region that may shift. Fails where a sum that needs all of its
 * operand would not get it. */
void split_find_range(split_region *r);

#endif
