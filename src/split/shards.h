/* Programs over several devices: which values are one device's, which dimensions are sharded.
 *
 * A module of several partitions has global shapes, but in the bodies of manual computations, which
 * are each device's own. Where shapes are global, XLA partitions, as the sdy.sharding of each op
 * says: a factor may be split only where nothing is sharded along it. docs/design/sharding.md.
 */
#ifndef WEIR_SPLIT_SHARDS_H
#define WEIR_SPLIT_SHARDS_H
#include "split/region.h"

typedef enum split_spread {
  SPLIT_SINGLE,  /* one partition: every value is one device's */
  SPLIT_MANUAL,  /* all work stands in manual computations over all partitions: likewise */
  SPLIT_SHARDED, /* there are global values */
} split_spread;

split_spread split_spread_of(const ir_module *m);

/* Whether devices have parts of the value along the dimension; also what does not read. */
bool split_is_sharded(const ir_module *m, ir_value v, int32_t dim);

/* Whether the block's values are spread over several devices: global shapes, sharded or not. */
bool split_is_spread(const ir_module *m, ir_block block);

/* Whether the region's loops would leave shardings alone: always, where its values are one
 * device's; else if no value is sharded along the factor but small ones that are only read, and
 * none is there as unreduced parts. */
bool split_may_split(split_region *r);

/* Those small ones, unsharded along the factor before the loops that read slices of them; and the
 * shardings of whole values taken off the ops of the loops' bodies. Requires: weir.loops stand. */
void split_unshard_inputs(ir_module *m);

#endif
