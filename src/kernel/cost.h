/* What kernels cost and how large their parts are. Units: cycles of one core where not said
 * otherwise. */
#ifndef WEIR_KERNEL_COST_H
#define WEIR_KERNEL_COST_H
#include "kernel/nest.h"

enum {
  COST_MOST_POINTS = 128,   /* accumulators of one reduction per row */
  COST_MOST_PRODUCT = 1024, /* points of a product (product.c) */
  COST_UNROLL = 8,          /* longest axis inside a tile that is unrolled */
  COST_MOST_PACKED = 1024,  /* points of a value that is copied for the tile */
};

/* Cycles of the whole nest under its roles, for comparing roles. */
double cost_of_nest(const kernel_nest *n);
/* The same as time, of all cores. */
double cost_time_ns(const kernel_nest *n);
/* The same for the XLA loop over slices that the nest stands for. */
double cost_of_xla(const kernel_nest *n);
/* How many times as fast the nest is as XLA's loop, of which cost_of_xla said `xla` before the nest
 * was made better; both read the inputs and write the results. 0: XLA makes of it what costs
 * nothing. */
double cost_gain_over(const kernel_nest *n, double xla);
/* Sets n->lanes. */
void cost_set_lanes(kernel_nest *n);
/* Vector operations of one vector's worth of the op, without what it sums over. */
double cost_weight(const kernel_nest *n, const kernel_node *x);
/* Rows of a panel, for which grids are kept. */
int64_t cost_panel_rows(const kernel_nest *n);
/* Accumulator rows of a product's register tile, of two vectors each. */
int32_t cost_product_rows(const kernel_nest *n);
/* Vectors of exponentials whose operations alternate. */
int32_t cost_exps_at_once(const kernel_nest *n);
/* Whether spans of columns can be computed apart: one pass, all results by row. */
bool cost_may_span_columns(const kernel_nest *n);
/* Fills n->sizes. */
void cost_set_sizes(kernel_nest *n);

#endif
