/* What plan_on_device() is made of. */
#ifndef WEIR_PLAN_PEAK_DEVICE_H
#define WEIR_PLAN_PEAK_DEVICE_H
#include "plan/peak_graph.h"

/* ---- peak_epilogue.c: products that a library does ---- */
bool plan_is_librarys(const plan_graph *g, const plan_node *n);
/* Takes out what nobody reads, and what was made for it alone. */
void plan_drop(plan_graph *g, uint32_t id);

/* ---- peak_tiles.c ---- */
/* Arrays as large as they are in tiles of two dimensions; copies where a view or a convolution has
 * other dimensions innermost than what it reads. */
void plan_lay_out_tiles(plan_graph *g);

/* Of the last dimension, or one before it; 1: there is none. */
static inline int64_t plan_extent_from_last(const plan_shape *s, int32_t from_last) {
  return s->rank > from_last ? s->dims[s->rank - 1 - from_last] : 1;
}

#endif
