/* A product of many tensors, an einsum: its leaves, its indices, and the order of multiplying that
 * costs least. What a plan may cost, and what it is for: pass/chain.c. */
#ifndef WEIR_PASS_NETWORK_H
#define WEIR_PASS_NETWORK_H
#include "pass/build.h"

enum {
  PASS_MOST_LEAVES = 48,
  PASS_MOST_LABELS = 64,
  PASS_MOST_SUBSET_LEAVES = 10, /* of more, the order as written is kept: intervals of it */
  PASS_MOST_SCALES = 16,
};

typedef uint64_t pass_labels; /* of the network's indices */
typedef uint64_t pass_leaves; /* of its leaves */

typedef struct pass_leaf {
  ir_value value;
  pass_labels labels;
  const uint8_t *at; /* the label of each dimension */
  uint32_t scaled;   /* scales of the network that it is scaled by, bits */
} pass_leaf;

typedef struct pass_network {
  ctx *ctx;
  ir_op root;
  ir_block block;
  int n, room; /* leaves; leaves that there will be at least */
  pass_leaf leaves[PASS_MOST_LEAVES];
  int n_labels;
  double extents[PASS_MOST_LABELS];
  const uint8_t *out_at; /* the label of each dimension of the result */
  pass_labels out;
  int n_scales, n_inner;
  pass_scale scales[PASS_MOST_SCALES];
  ir_op inner[PASS_MOST_LEAVES]; /* products that are multiplied out, without the root */
  double flops, peak, largest; /* as written; elements of the largest intermediate, of any tensor */
  bool has_dissolved;          /* a shared product is multiplied out */
} pass_network;

typedef struct pass_plan {
  const pass_network *net;
  double flops, peak;
  pass_leaves
      *first; /* by subset: the part with the first leaf; by [from * n + to] for intervals */
  size_t n_first;
  bool by_intervals;
  uint8_t
      scaled[PASS_MOST_SCALES]; /* by scale: the leaf with whose first product it is multiplied */
} pass_plan;

pass_labels pass_labels_at(const uint8_t *at, int32_t rank);
/* The indices that a product of these leaves has: those that others or the result have too. */
pass_labels pass_labels_of(const pass_network *net, pass_leaves leaves);
double pass_volume(const pass_network *net,
                   pass_labels s); /* elements of a tensor of these indices */

/* By floating-point operations, without an intermediate that is larger than all that is there as
 * written; flops < 0: there is none. Scalars have no place yet. Lives in `a`. */
pass_plan pass_best_plan(arena *a, const pass_network *net);
/* Scalars, each behind the first product of a leaf. */
void pass_place_scales(const pass_network *net, pass_plan *p);
/* The part of these leaves that is multiplied with the rest of them last. */
pass_leaves pass_first_part(const pass_plan *p, pass_leaves s);
static inline pass_leaves pass_all_leaves(const pass_network *net) {
  return ((pass_leaves)1 << net->n) - 1;
}
static inline bool pass_is_single(pass_leaves s) { return !(s & (s - 1)); }

#endif
