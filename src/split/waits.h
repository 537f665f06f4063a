/* Loops that write over a state of a while (split/halo.h), or over an argument that was donated to
 * their result, wait for all who read it as it was.
 *
 *   s = sum(x); x = step(x)      x' = after(x, s); x = step(x')
 *
 * XLA copies a buffer which somebody may still read while a loop writes over it. A loop that does
 * not depend on such a reader is made to: what it begins with comes out of a call of the state and
 * of what the reader made, which gives the state back (ir_build_after()).
 *
 * Not for readers that depend on the loop, or whose results are large and not there slice by slice:
 * they are copied for, or become loops later.
 */
#ifndef WEIR_SPLIT_WAITS_H
#define WEIR_SPLIT_WAITS_H
#include "split/region.h"

/* Of the region's block, whose loops are there. Only where such calls may be made. Cost: for each
 * state that a loop carries, its readers, each a walk over the block. */
void split_wait_for_readers(split_region *r);

#endif
