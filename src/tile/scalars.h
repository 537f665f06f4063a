/* What a loop's body computes from start, lo and constants alone: integers that are one number for
 * all elements of a tensor, and which number that is in which trip. Facts of all trips, so that
 * what is read off them holds whichever trip a kernel's index stands for.
 */
#ifndef WEIR_TILE_SCALARS_H
#define WEIR_TILE_SCALARS_H
#include "ir/attrs.h"

enum { TILE_SAMPLES = 4 }; /* the first two trips and the last two */

typedef struct tile_scalar {
  bool is;           /* such a number, in signed integers or i1; if not, nothing else is known */
  int64_t low, high; /* it is in low .. high in every trip; one number if these are equal */
  bool is_linear;    /* it is start * `start` + lo * `lo` + `constant` in every trip */
  int64_t start, lo, constant;
  int64_t in[TILE_SAMPLES]; /* what it is in the sample trips: what rules are checked against */
} tile_scalar;

typedef struct tile_trips { /* split/loops.h */
  int64_t extent, slice, count;
  int64_t start[TILE_SAMPLES], lo[TILE_SAMPLES]; /* of the sample trips */
} tile_trips;

typedef struct tile_scalars {
  const ir_module *m;
  arena *a;
  tile_trips trips;
  VEC(tile_scalar) of; /* by value */
} tile_scalars;

tile_scalars *tile_scalars_new(arena *a, const ir_module *m, ir_op loop);
/* To be told of the ops of the body in order. */
void tile_scalars_add(tile_scalars *s, ir_op op);
tile_scalar tile_scalar_of(const tile_scalars *s, ir_value v);

/* The same number in every trip. */
static inline bool tile_is_constant(const tile_scalar *x) { return x->is && x->low == x->high; }

bool tile_compares(ir_direction direction, int64_t x, int64_t y);

#endif
