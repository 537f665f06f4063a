/* Large values in the order in which their regions are tried, and which ones were. */
#ifndef WEIR_PIPELINE_SEEDS_H
#define WEIR_PIPELINE_SEEDS_H
#include "ir/ir.h"

/* Values whose regions were tried; ids stay good while loops are built. Zero but for `a` is
 * empty. */
typedef struct seeds_tried {
  arena *a;
  uint32_t room;
  bool *is; /* by value */
} seeds_tried;

bool seeds_was_tried(const seeds_tried *t, ir_value v);
void seeds_mark_tried(seeds_tried *t, ir_value v);
/* It may be tried again; nothing if it was not. */
void seeds_unmark_tried(seeds_tried *t, ir_value v);

typedef struct seed {
  ir_value value;
  ir_block block;
  int64_t bytes;
  uint32_t order; /* in the list as it is made */
} seed;

/* By size, ties in program order. */
void seeds_sort(seed *list, uint32_t n, bool smallest_first);

#endif
