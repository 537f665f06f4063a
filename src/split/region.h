/* Regions: the part of a block that one loop (or a few, in stages) over slices of one factor can
 * compute without ever holding its large values.
 *
 * A region grows from a seed, a large value and a position on it. Every op that makes or uses a
 * large value of the region at a traced position is a member. Small values between members (a
 * softmax's row maximum) are computed where they are needed: inside the loop if the factor can be
 * traced through them, else outside, which costs a further stage: a loop of stage s may read what
 * loops of stages < s have put out, and makes the large values that it needs again. So a result
 * that was reduced over the factor and comes back into the region costs one more pass over it,
 * never its memory.
 *
 *     stage 0:  K[rows] -> K[rows] K[rows]^T  -> sum        (carry)
 *     outside:  cholesky of the sum
 *     stage 1:  K[rows] again -> gradients                  (carry, concat)
 */
#ifndef WEIR_SPLIT_REGION_H
#define WEIR_SPLIT_REGION_H
#include "ir/online.h"
#include "split/agreement.h"

enum { SPLIT_NEVER = 1 << 20 }; /* a stage that does not come */

typedef struct stream_known { /* what was read off the ops once */
  split_pos pos;
  int32_t stage;
  const online_form *form;
  uint32_t next; /* of the same value; index + 1, 0: none */
} stream_known;

typedef struct split_member {
  ir_op op;
  split_factor factor;
  int32_t stage;
  uint32_t next;               /* another member of the same op: index + 1, 0: none */
  const online_terms *streams; /* of a sum that is done with running statistics of its own stage;
                                  NULL: it is not */
  bool is_idle;                /* no loop makes it: split/kept.h */
  int32_t group;               /* which loop of its stage puts out what it makes: split/apart.h */
  uint32_t onto; /* the member of whose sum this one makes its own, in the same loop: index + 1,
                    0: none */
} split_member;

static inline int32_t split_n_streams(const split_member *member) {
  return member->streams ? member->streams->count : 0;
}

/* One value at one position, and how a loop gets it. */
typedef struct split_instance {
  ir_value value;
  split_pos pos;
  bool traced; /* its op can make it inside a loop, by `factor` */
  split_factor factor;
  int32_t body_stage; /* the first stage whose loop can make it */
  uint32_t next;      /* of the same value; index + 1, 0: none */
  int32_t emitted_in; /* split/trip.c: in which loop's body `emitted` stands; -1: none yet */
  ir_value emitted;
  uint32_t made_by, asked_by; /* the first and the last root of all stages; + 1: split/apart.c */
} split_instance;

typedef struct split_span { /* of a cut: split/spans.h */
  ir_value value;
  int32_t from, to; /* stages: put out by the loop of the first, read behind it up to the last */
  uint32_t next;    /* of the same value; index + 1, 0: none */
} split_span;

typedef struct split_asked { /* a while was asked for a factor: its whole body has to be looked at
                              */
  ir_op op;
  uint32_t carry;
  split_pos pos;
  bool traced;
  split_factor factor;
} split_asked;

/* What tracing answered, in a tree for each result and operand: by two bits of the position's hash
 * from level to level. */
typedef struct split_traced {
  bool traced;
  split_pos pos;
  split_factor factor;
  struct split_traced *below[4];
} split_traced;

/* What all regions share that grow in the same state of a module. */
typedef struct split_state {
  arena *a;
  ir_block block; /* whose users and effects are known */
  ir_users users;
  const bool *effects;      /* by op: it has some, or what is below it */
  const bool *is_constant;  /* by value: made of constants alone, element by element */
  const bool *selected;     /* by value: split_find_selected() */
  const ir_op *compares_by; /* by op: split_find_comparing() */
  uint32_t n_values;
  int64_t threshold_bytes;
  const bool *large; /* by value: it is dissolved */
  uint8_t *detaches; /* by value: whether each of its readers may make it for itself: an answer of
                        state.c */
  uint8_t compares_selected; /* of the block, for that: split_meets_selected() */
  uint8_t *becomes_part;     /* by value: of a larger one, as nobody else's: an answer of state.c */
  const ir_value *carried;   /* by value: the argument of the while's body in whose place it is
                                carried on, but for updates that come later; IR_NONE: in none's */
  const bool *goes_on;       /* by value: large, and what is carried on is made of it */
  const bool *leads_on;      /* by value: who reads it may have other members behind it than one
                                elementwise op after the other up to the end of the block */
  split_traced ***traced;    /* by op, by result and then operand; NULL: never asked */
  struct split_compared **compared; /* by op: of those that compare, likewise: split/agreement.h */
} split_state;

/* What is better made outside of loops (split/apart.h); NULL: nothing is. */
typedef struct split_outside {
  const bool *is;       /* by op: no member */
  const bool *is_plain; /* by value: made of small ones alone */
} split_outside;

/* Whether an op may be done by slices at all; NULL: any whose factors are known. threshold_bytes:
 * of what is dissolved. */
typedef bool split_covers(const ir_module *m, ir_op op, int64_t threshold_bytes);

/* How a module is to be split. */
typedef struct split_goal {
  int64_t threshold_bytes; /* larger values are dissolved */
  split_covers *covers;    /* NULL: all ops may be sliced */
  bool no_streaming;       /* one loop per statistic instead */
  bool may_sort;           /* what is sorted may be made slice by slice: split/sorts.h */
  bool cuts_steps;         /* scans are made in slices of their steps: split/chunks.h */
  uint32_t most_phases;    /* that these may take, in turns of both directions: split/phases.h */
  bool no_kernels;         /* all loops stay XLA's (split/agreement.h) */
  bool no_checkpoints;     /* loops keep what they stack */
  bool may_be_deep;        /* their segments may have segments (split/checkpoint.h) */
  bool no_accumulators;    /* and carry what they add up */
  bool outside_first;      /* whiles as a whole go before what is inside of them */
  bool segments_first;     /* of what loops keep of their trips: segments go before slices */
  bool nest; /* values that a loop reads whole may be made anew in each of its trips, by slices */
  bool from_states; /* the seed may be the next state of a while, which a loop then writes over the
                       one before (split/halo.h, ir/in_place.h) */
  bool detaches;    /* the seed may be a value of which each reader first gets a copy of its own */
  int64_t hold_bytes; /* a value that is larger must not stay in memory */
  int64_t room_bytes; /* for what is put out between many stages (split/cuts.h); 0: none */
  struct split_schedules *schedules; /* split/schedules.h; NULL: none are kept */
  bool refines_cuts;                 /* of the region that is split: split_refine_cuts() */
  bool writes_over;      /* loops may write results over what they read last (ir/in_place.h) */
  int64_t slice_bytes;   /* of the largest slice of one, aimed at */
  int64_t cached_bytes;  /* the same where no matrix product wants more rows */
  int64_t scan_tile;     /* XLA makes prefix sums of up to so many elements in one pass; 0: any */
  int64_t scanned_bytes; /* slices are not made smaller than this to get there */
  bool (*is_materialised)(const ir_module *m, ir_op op,
                          const ir_users *users); /* of an op of the block; NULL: everything is */
  int64_t generous_bytes; /* slices grow to this to have 128 rows in products; >= slice_bytes */
  bool carries_rows;      /* loops may write over the state of a while whose rows see each other:
                             split/halo.h */
  bool may_call;          /* calls that XLA may not inline: ir_build_after() */
  bool leaves_masks;      /* values with only a mask in common are split by a region each */
  bool fits_first;        /* slices that fit go before what stays in memory */
  int64_t
      tile; /* long slices along what is innermost are a multiple of so many; 0: of any number */
  int64_t part_bytes; /* a slice's part of a product's sum is added in blocks of so much, and is no
                         value of its own; 0: it is one */
} split_goal;

typedef struct split_region split_region;

/* Whether a region may be wanted that has its stages, and what they hold but for cuts: n_loops is
 * the least that there may be. Which they are, and cuts, takes longest to find where stages are
 * many. */
typedef bool split_wants(split_region *r, const void *user);

struct split_region {
  ir_module *m;
  ir_block block;
  arena *scratch;
  split_state *state; /* while the region grows */
  split_goal goal;
  uint32_t n_values; /* when it grew */
  const bool *large; /* of these: those above the threshold */
  ir_value seed;
  split_pos seed_pos;
  int64_t extent;  /* indices of the factor that the loops go over */
  int64_t begin;   /* the first of them; 0 is the seed's first */
  int64_t coarsen; /* growing failed, but might not with units this many times larger */
  int32_t n_stages;
  int32_t n_groups;    /* loops of one stage, at most */
  int32_t n_loops;     /* those that put something out */
  bool has_states;     /* of the while, in whose place it makes what is next */
  int64_t state_bytes; /* of these, such as others than its loops read, who make what is next
                          of another: a copy is held */
  bool must_agree;  /* something is compared that the loops have to agree on: split/agreement.h */
  bool disagrees;   /* even within one loop: it makes a sum at two positions */
  bool backwards;   /* growing failed, but might not with the factor mirrored */
  bool may_shift;   /* ops may be done whose factor shifts (split/window.h) */
  bool may_overlap; /* and stencils, whose windows overlap */
  bool may_differ;  /* the region might be another with another may_shift: some op was asked that
                       shifts or overlaps, or the order counts in which a value's positions came */
  bool overlaps;    /* there are some among the members */
  bool merges;      /* windows of a value that are near each other become one that has them all */
  bool is_crowded;  /* growing might go on if they did */
  ir_value crowd;   /* why it failed: a value asked for at too many positions, which it may leave */
  bool has_many;    /* some value has windows of which none contains the other */
  bool makes_twice; /* and they are near each other */
  bool is_closed;   /* no more members come */
  bool is_grown;    /* what it is made of is known: nothing more can fail */
  bool failed;      /* too large to analyse, no stage assignment, or nothing to go over */
  bool too_large, repeats; /* why it failed: the former, or loops that make members too often */
  int32_t n_held;          /* large values of the region that are needed outside nevertheless, but
                              for those that cuts alone put out */
  int64_t held_bytes;      /* of all of them, whenever they are there */
  VEC(split_member) members;
  VEC(split_instance) instances;
  VEC(split_asked) asked;
  VEC(uint32_t) pending; /* instances whose ops and users are still to be looked at */
  VEC(stream_known) streams;
  VEC(ir_op) selecting;     /* loops outside that have to agree, too */
  uint32_t *first_instance; /* by value: index + 1 */
  uint32_t *first_stream;   /* by value: index + 1 */
  uint32_t *member_of;      /* by op: index + 1 of its first member */
  uint32_t *by_stage;       /* all members, those of a stage in their own order */
  uint32_t *stage_from;     /* by stage, and of the end: where its members begin in by_stage */
  uint32_t *place;          /* by op of the block: in program order; NULL unless windows merge */
  int32_t *outside_stage;   /* by value: the first stage whose loop can read it from outside; -1 not
                               known yet */
  bool *needed_outside;     /* by value: large ones that must be put out */
  bool *is_read;            /* by value: results of members that somebody uses */
  bool *is_passed_on; /* by value: a sum that a member of its loop adds to, and nobody else has */
  split_outside outside;
  bool *is_kept;    /* by value: large ones that later loops read: split/kept.h */
  bool lacks_room;  /* with more there might be more spans */
  bool may_be_cut;  /* loops make members so often that cuts were looked for */
  bool is_unwanted; /* so that its loops and cuts were not looked for. n_loops is the least
                       that there may be */
  bool *is_cut;     /* those with spans: split/cuts.h; NULL: none is */
  VEC(split_span) spans;
  struct split_plan *plan; /* of spans; NULL: none was made */
  uint32_t *first_span;    /* by value: index + 1; NULL where is_cut is */
  const bool *is_held;     /* by value: needed_outside without cuts; NULL where there are none */
  uint8_t *again;          /* by value: split_again, of small ones */
  bool keeps_any;
};

/* An op's members, one for each way that it is split; NULL: there are no more. Good until one is
 * added. */
static inline split_member *split_first_member(const split_region *r, ir_op op) {
  return r->member_of[op] ? &r->members.at[r->member_of[op] - 1] : NULL;
}
static inline split_member *split_next_member(const split_region *r, const split_member *member) {
  assert(member->next <= r->members.count);
  return member->next ? &r->members.at[member->next - 1] : NULL;
}

/* What a region grows from, and how. */
typedef struct split_growth {
  arena *scratch;
  ir_module *m;
  ir_block block;
  ir_value seed;
  split_pos pos; /* of the factor on it */
  const split_goal *goal;
  split_state *state; /* of the module and its threshold */
  bool is_ragged;     /* the seed is no whole number of units: only windows may be shifted */
  bool no_overlaps;   /* no stencils: what windows share is made twice */
  split_wants *wants; /* NULL: any is */
  const void *user;   /* what wants is asked with */
} split_growth;

/* Analysis only; the module is not changed. */
split_region *split_region_grow(const split_growth *g);

/* Of a region that is going to be split: the cuts that its loops make least with, of many more
 * than were looked at when it grew. room_bytes: as then. Cost: some hundred looks at each member
 * for each stage, where loops make members several times. */
void split_refine_cuts(split_region *r, int64_t room_bytes);

#endif
