/* What the loops of a region put out, and which large values stay in memory nevertheless. */
#ifndef WEIR_SPLIT_HELD_H
#define WEIR_SPLIT_HELD_H
#include "split/region.h"

/* Large values that are needed outside, their bytes, and what is read at all. */
void split_find_held(split_region *r);

typedef struct split_held {
  int64_t bytes;
  int64_t returned_bytes; /* of these: what the block returns, or a while carries on: there in any
                             case */
} split_held;

/* The most of it that is there at one time, but for the values of *without* (NULL: none). Cost as
 * of split_repeats. */
split_held split_most_held(split_region *r, const bool *without);
/* No more than that, whatever cuts there are: what loops read counts for nothing. Cost: a look at
 * each user of what is held. */
split_held split_least_held(split_region *r, const bool *without);

/* Whether a loop puts the member's result out: somebody outside, or a later loop, may read it. */
bool split_is_put_out(const split_region *r, ir_value v);
bool split_puts_out(const split_region *r, const split_member *member); /* any of its results */
/* A cut (split/cuts.h) puts it out, and there is no other reason. */
bool split_is_only_cut(const split_region *r, ir_value v);
/* Cut from one, held back or not. */
bool split_is_part_of_argument(const ir_module *m, ir_value v);
/* Large values that stay in memory: put out, made outside and read whole, or read at a position
 * where nobody in the region makes them. INT64_MAX where the region has failed. */
int64_t split_stuck_bytes(split_region *r);

#endif
