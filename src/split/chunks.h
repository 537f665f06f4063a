/* Scans in chunks of their steps: a while that counts its trips as an op with a factor along them.
 *
 *   while(t = 0, h = h0, Y) { t + 1, h' = f(h, x[t]), Y[t] = g(h, x[t]) }
 *
 * A slice of x's steps makes that slice of Y from the state that the slices before left: the factor
 * is carried, in the order of the steps (or mirrored, where they go from the last index to the
 * first). So what x is made of, and what is made of Y, is split along the steps together with the
 * while, which runs over one slice in each trip:
 *
 *   loop(h)  { x = ..slice..; h, y = while(p < slice) { .. x[p] .. }; .. y .. }
 *
 * A while whose state begins anew every so many steps (split/restart.h) is not carried in units of
 * so many: its slices can be made in any order.
 *
 * Its steps are what they were, in the same order: results are bitwise the same. What the last trip
 * leaves of the state is a result that is there once the loop is done. */
#ifndef WEIR_SPLIT_CHUNKS_H
#define WEIR_SPLIT_CHUNKS_H
#include "split/monoid.h"
#include "split/steps.h"

/* What a carry of a scan is. */
typedef enum split_carry {
  SPLIT_WHOLE, /* the same in all steps */
  SPLIT_STATE, /* the counter is one */
  SPLIT_READ,  /* one element a step */
  SPLIT_STACK
} split_carry;

/* A while that reads or stacks one element a step, and in one direction. */
typedef struct split_scan {
  split_steps steps;
  bool backward;      /* from the last index to the first */
  uint32_t n;         /* carries */
  split_carry *roles; /* by carry; what goes the other way is whole, or of the state */
  split_access *at;   /* likewise: where; of stacks also the op */
  bool is_mixed;      /* something does go the other way */
} split_scan;

/* In the direction of `carry`, if that is read or stacked; n: of any that is. Arrays are in
 * scratch. */
bool split_scan_of(arena *scratch, const ir_module *m, ir_op loop, uint32_t carry, split_scan *out);

/* The factor along the steps, at `pos` of what the while reads or stacks as this carry: its
 * position on all that is read or stacked step by step in the same direction. What else it carries
 * is the state, a "sum" of the factor. False if that carry is not read or stacked so. */
bool split_chunks_trace(arena *scratch, ir_module *m, ir_op loop, uint32_t carry, split_pos pos,
                        split_factor *out);
/* Whether some carry has such a factor. */
bool split_has_chunks(const ir_module *m, ir_op loop);
/* Its state begins anew every so many steps: it is split in units of these, or not at all. */
bool split_begins_anew(const ir_module *m, ir_op loop);
/* The carry's value goes from slice to slice. */
bool split_is_state(const split_factor *f, uint32_t carry);
/* One trip: operands inside the loop; states: of a factor that is carried as the trip begins, out:
 * as the next one does. Results are of the slice; those of the state as the slice ends. */
void split_chunks_step(ir_builder *b, ir_op loop, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *states, ir_value *out_results);

#endif
