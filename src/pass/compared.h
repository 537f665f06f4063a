/* Elements that are compared with what they are read from.
 *
 *   s = x . y;  t = s[i, k_i];  mask = s >= t          ranks: hits, reciprocal ranks, recall
 *                               hit = max(s_i) == t
 *   s = x . y;  t = row . s;      mask = s >= t          labels as rows of 0 and a 1
 *
 * Made apart from s, t is rounded in another order: then it is no element of s, and where the mask
 * holds for that element alone nothing is left of it. */
#ifndef WEIR_PASS_COMPARED_H
#define WEIR_PASS_COMPARED_H
#include "pass/pass.h"

/* `begin` of passes that ask pass_is_compared(). True. Cost: linear, up to MOST_VALUES for each
 * comparison. */
bool pass_find_compared(pass_rewrite *r);
/* Of a gather, a sum of a masked value or a product with one-hot rows, that came: a comparison may
 * see it, and what the elements are made of where it reads them, as they are or cut, moved,
 * negated, read from a part. Of any other product: a comparison may see it, and what it multiplies,
 * as that is: the weights may be one-hot rows, which are data.
 */
bool pass_is_compared(const pass_rewrite *r, ir_op op);

#endif
