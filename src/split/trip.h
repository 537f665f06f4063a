/* The body of a loop: what one trip makes of the members of a stage, from inputs, slices and
 * carries, and what it puts out (split/loops.h). */
#ifndef WEIR_SPLIT_TRIP_H
#define WEIR_SPLIT_TRIP_H
#include "split/halo.h"
#include "split/region.h"
#include "split/tile_op.h"

typedef VEC(int64_t) ints;

/* A prefix sum at a position, with what it is carried in as the trip ends. */
typedef struct carried_sum {
  ir_value value, carry;
  split_pos pos;
} carried_sum;

typedef struct answer { /* the window of which the value's window is a part */
  ir_value value;
  split_pos pos, widest;
} answer;

/* One loop being built. */
typedef struct loop_builder {
  split_region *r;
  const struct loop_builder *sliced; /* of the body as one trip: the loop that it is the whole of */
  int32_t number;     /* of this body among those of the region: TRIP_BODIES for each loop */
  ir_builder body;    /* ops inside */
  ir_builder *before; /* initial carries */
  ir_builder *after;  /* from final carries to results */
  split_trip trip;
  int32_t stage, group;
  const ir_map *renamed; /* results of earlier loops */
  ir_values inputs;      /* as outside */
  ints in_dims, in_units;
  ir_values initial, yields,
      sources;       /* sources: the value that result j stands for; IR_NONE for carries */
  VEC(bool) windows; /* whether result j is a carry into which each trip puts its window */
  ir_type *result_types;
  ints out_dims, out_units;
  VEC(answer) answers;      /* of a loop, for the same as one trip */
  VEC(carried_sum) carried; /* prefix sums, which kernels do not have */
  split_halos halos;        /* states that the loop writes over */
  bool looks;               /* which these may be: the body is thrown away */
  bool *put_out;            /* by value */
  ir_values input_args, carry_args;
  bool *reduced;       /* by op: its reduction stands in this loop */
  ir_value *running;   /* by value: what sums of this trip see of a statistic */
  ir_value *old_carry; /* by value: the statistic as the trip begins */
} loop_builder;

/* The loop's body, the same as one trip, and one that was made to see which states it has. */
enum { TRIP_BODIES = 3 };

/* Fills the body of a builder that has its region, stage, group, blocks and renamed values. slice:
 * indices of a trip; the extent: the body as one trip. */
void split_build_trip(loop_builder *l, int64_t slice);

/* The member of this loop that the value at this position is the sum of; NULL: none. */
const split_member *split_running_statistic(loop_builder *l, ir_value v, split_pos pos);

#endif
