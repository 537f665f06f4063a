/* What of a region is better made apart from its loops, and loops of a stage apart from each other.
 *
 * 1. A large value that somebody takes whole, and that an elementwise op makes of one that is there
 *    as a whole and that nobody else reads (a Cholesky factor, and its lower half): a loop would
 *    read the one and write the other, and both would be there. As it came, XLA writes it over what
 *    it is made of. A result that is an argument's part, moved: a loop would only copy it. These
 *    stay *outside*: no members, but inputs of the loops that read them.
 * 2. Loops of one stage that share no large value (a kernel matrix, to be factored, and what is
 *    made of the factor's gradient) are one loop as stages go: what they put out is there at once.
 *    As loops of their own XLA runs each where it is needed. Only where both put out a large value:
 *    else what they read would be read twice for nothing.
 */
#ifndef WEIR_SPLIT_APART_H
#define WEIR_SPLIT_APART_H
#include "split/region.h"

/* Whether some op stays outside, of a region that was grown without; *out then says which. What
 * those take that is made of small values alone they make themselves. Cost: one look at each op of
 * the block. */
bool split_find_outside(split_region *r, split_outside *out);

/* Sets the group of all members, and n_groups. Cost: where a stage puts out several large values, a
 * walk over all that its loop makes for each. */
void split_find_groups(split_region *r);

#endif
