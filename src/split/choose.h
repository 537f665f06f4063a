/* Which factor of a seed to split, and into what slices. */
#ifndef WEIR_SPLIT_CHOOSE_H
#define WEIR_SPLIT_CHOOSE_H
#include "split/region.h"

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

typedef struct split_choice {
  split_region *region; /* NULL: not grown from this seed, because slices would not be smaller */
  int64_t extent;       /* of the region */
  int32_t n_loops;
  int64_t slice;          /* indices a trip */
  int64_t thin_slice;     /* slices of so few indices, or fewer, make matrix products slow */
  int64_t index_bytes;    /* of the largest dissolved value, per index of the factor */
  int32_t reductions;     /* members merged over the factor */
  int32_t sorts;          /* members that sort along it */
  int64_t held_bytes;     /* large values that stay in memory at one time: put out, or read whole */
  int64_t put_out_bytes;  /* what the loops put out, whenever it is there */
  int64_t returned_bytes; /* of these: what the block returns */
  int64_t read_bytes;     /* of loops in loops: large values made outside, read slice by slice */
  bool has_stencils;      /* windows of some members may overlap */
  bool overlaps;          /* of those, a trip makes again what others make */
  int64_t parts_bytes;    /* of these: parts of sums that could be added in blocks */
  int64_t moved_bytes;    /* and the sums, where these could be carried as parts of larger ones */
  bool has_shorter;       /* without those, another dimension would take fewer loops */
} split_choice;

/* What is known of the values of regions that were grown: a region is the same from whichever of
 * its values it grows. For one goal, as long as the module stays as it is. */
typedef enum split_knowledge {
  SPLIT_KNOWN_LIKE,  /* from here it might be another one, if not by much: good enough to see that
                        another dimension is better */
  SPLIT_KNOWN_BOUND, /* the same, but its loops were not looked for: it holds as much, or more */
  SPLIT_KNOWN_SAME
} split_knowledge;

typedef struct split_known {
  int32_t dim;
  split_knowledge knowledge;
  bool dissolves; /* the value */
  bool is_needed; /* outside: dissolved once it is there for each of its readers */
  split_choice choice;
  uint32_t next; /* of the same value; index + 1, 0: none */
} split_known;

typedef struct split_memo {
  arena *a;        /* NULL: nothing is known */
  uint32_t *first; /* by value: index + 1 */
  VEC(split_known) list;
  split_state state;
} split_memo;

/* A choice has parts of it: after its loops were built. */
void split_forget(split_memo *memo);
const ir_users *split_known_users(split_memo *memo, const ir_module *m, ir_block block,
                                  const split_goal *goal);

/* The best of all positions on the seed; false if none dissolves it. out_choice->slice may be all
 * of the extent. Cost: one region per dimension of which nothing is known. */
bool split_choose(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                  const split_goal *goal, split_memo *memo, split_choice *out_choice);
/* The same for who does not split it: no region is grown of what is known, out_choice->region may
 * be NULL. */
bool split_find_choice(arena *scratch, ir_module *m, ir_block block, ir_value seed,
                       const split_goal *goal, split_memo *memo, split_choice *out_choice);

#endif
