/* Which factor of a seed to split, and into what slices. */
#ifndef WEIR_SPLIT_CHOOSE_H
#define WEIR_SPLIT_CHOOSE_H
#include "split/region.h"

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
