/* Large values of a region that are there as a whole anyway, and what nobody has to make for it.
 *
 * Loops make the large values of a region anew, slice by slice, so that none has to be there. But
 * where
 *   - a reader takes such a value whole nevertheless (the left factor of a product whose columns
 *     are made), and another reads slices of it,
 *   - to make it takes another one whole that is as large,
 *   - which nobody needs for as long as this one,
 * it is *kept*: put out once, and read in slices by all later loops. Else these would hold the
 * other value, too, and do its work again. With S = solve(L, I) and S^T M S, the gradient of a
 * Cholesky factor, the loop behind reads S and not L. A value that is made from small ones (a
 * kernel matrix) is made anew: to keep it would hold it for longer. The region is grown without
 * kept values, too, and that is taken where as much is held.
 *
 * Of an op that is done at several positions of a kept value only the first puts it out; members at
 * the others are *idle* if nobody else reads what they make, and so are those that only they read.
 */
#ifndef WEIR_SPLIT_KEPT_H
#define WEIR_SPLIT_KEPT_H
#include "split/region.h"

/* Whether op reads v only through one of its regions. */
bool split_uses_below(const split_region *r, ir_op op, ir_value v);

/* Sets is_kept of all values of a region that has its members. Cost: three looks at each reader of
 * each op of the block. */
void split_find_kept(split_region *r);

/* Sets is_idle of all members, which have their stages. Cost: one look at each reader of each. */
void split_find_idle(split_region *r);

#endif
