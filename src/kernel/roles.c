#include "kernel/roles.h"

#include "kernel/cost.h"
#include "kernel/pack.h"

uint32_t kernel_point_axes(const kernel_nest *n, uint32_t mask) {
  for (int32_t a = 0; a < n->n_axes; a++)
    if (n->role[a] >= KERNEL_OUTER) mask &= ~(1u << a);
  return mask;
}

int64_t kernel_extent_of(const kernel_nest *n, uint32_t mask) {
  int64_t product = 1;
  for (int32_t a = 0; a < n->n_axes; a++)
    if (mask >> a & 1 && __builtin_mul_overflow(product, n->extent[a], &product)) return INT64_MAX;
  return product;
}

int64_t kernel_outer_extent(const kernel_nest *n) {
  uint32_t outer = 0;
  for (int32_t a = 0; a < n->n_axes; a++) outer |= (uint32_t)(n->role[a] == KERNEL_OUTER) << a;
  return kernel_extent_of(n, outer);
}

/* Axes that all values with rows and columns have: an index outside of the tile computes nothing
 * twice. Long ones may be outside, too, if a product does not take them as points. */
static uint32_t axes_of_tiles(const kernel_nest *n, uint32_t tile, bool long_outside) {
  uint32_t all = ~0u;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if ((x->mask & tile) == tile) all &= x->mask;
  for (int32_t a = 0; a < n->n_axes && long_outside; a++)
    if (n->extent[a] > COST_MOST_POINTS) all |= 1u << a;
  return all & ~n->positions & ~n->strided;
}

typedef struct choice { /* of roles */
  int32_t row, column;
  bool long_outside;
} choice;

static void set_roles(kernel_nest *n, choice c) {
  uint32_t all = ~0u, any = 0;
  for (uint32_t j = 0; j < n->n_outputs; j++) {
    all &= n->nodes[n->outputs[j].node].mask;
    any |= n->nodes[n->outputs[j].node].mask;
  }
  all &= axes_of_tiles(n, 1u << c.row | 1u << c.column, c.long_outside);
  for (int32_t a = 0; a < n->n_axes; a++)
    n->role[a] = all >> a & 1 ? KERNEL_OUTER : any >> a & 1 ? KERNEL_POINT : KERNEL_INNER;
  n->row = c.row;
  n->column = c.column;
  n->role[c.row] = KERNEL_ROW;
  n->role[c.column] = KERNEL_COLUMN;
}

bool kernel_ends_phase(const kernel_nest *n, const kernel_node *x) {
  uint32_t tile = kernel_tile_axes(n);
  return n->staged && !x->depth && x->reduces && x->index < 0 && x->late < 0 &&
         (x->mask & tile) == tile && !kernel_point_axes(n, x->mask) &&
         kernel_extent_of(n, x->reduces) > COST_UNROLL;
}

/* The first phase of the pass in which all operands are known. */
static int32_t phase_after_operands(const kernel_nest *n, const kernel_node *x, int32_t pass) {
  int32_t phase = 0;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (!from || (from->level <= pass && !(from->mask >> n->column & 1))) continue;
    int32_t known = kernel_phase_of(from, pass) + kernel_ends_phase(n, from);
    if (known > phase) phase = known;
  }
  return phase;
}

/* What the operands say about the node. */
static void inherit(const kernel_nest *n, kernel_node *x) {
  x->level = 0;
  x->after = false;
  x->is_rowless = !(x->mask >> n->row & 1);
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (kernel_axes_mask(&x->operands[i]) >> n->row & 1) x->is_rowless = false;
    if (!from) continue;
    if (from->level > x->level) x->level = from->level;
    x->after = x->after || from->after;
    x->is_rowless = x->is_rowless && from->is_rowless;
  }
  x->step = phase_after_operands(n, x, x->level);
  x->ready = phase_after_operands(n, x, x->level - 1);
}

/* What is made from a reduction over rows has no rows, and reads nothing else that needs them. */
static bool may_come_after(const kernel_nest *n, const kernel_node *x) {
  uint32_t tile = kernel_tile_axes(n);
  if (x->mask >> n->row & 1 || x->reduces & tile) return false;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (from && !from->after && !from->is_rowless) return false;
  }
  return true;
}

static bool has_few_points(const kernel_nest *n, const kernel_node *x) {
  return kernel_extent_of(n, kernel_point_axes(n, x->mask & ~n->positions)) <= COST_MOST_POINTS ||
         x->is_product;
}

/* A result: what is made of products, point by point once all are summed up, too. */
static bool may_be_stored(const kernel_nest *n, const kernel_node *x, bool after) {
  bool once = x->index < 0 && x->late < 0 && (after || !(x->mask >> n->column & 1));
  return has_few_points(n, x) ||
         (once && kernel_extent_of(n, kernel_point_axes(n, x->mask)) <= COST_MOST_PRODUCT);
}

/* Of a top-k or variadic reduction: over the columns alone, and a top-k of one list a row. */
static bool is_legal_list(const kernel_nest *n, const kernel_node *x) {
  bool positions = x->kind == IR_OP_CHLO_TOP_K;
  return x->reduces == 1u << n->column && !x->after &&
         (!positions || (x->mask >> n->row & 1 && !kernel_point_axes(n, x->mask & ~n->positions)));
}

static void need_pass(kernel_nest *n, int32_t pass) {
  if (pass + 1 > n->n_passes) n->n_passes = pass + 1;
}

static bool set_level(kernel_nest *n, kernel_node *x) {
  bool reduces_row = x->reduces >> n->row & 1, reduces_column = x->reduces >> n->column & 1;
  inherit(n, x);
  x->index = x->late = -1;
  x->pass = x->phase = x->n_terms = 0;
  x->is_boundary = x->is_product = false;
  for (int32_t a = 0; a < n->n_axes; a++)
    if (x->reduces >> a & 1 && n->role[a] == KERNEL_OUTER) return false;
  if ((x->kind == IR_OP_CHLO_TOP_K || kernel_is_variadic(x)) && !is_legal_list(n, x)) return false;
  if (kernel_is_gather(x) && !kernel_gather_is_legal(n, x)) return false;
  if (x->depth && (reduces_row || reduces_column || x->after)) return false;
  if (x->in_order && (reduces_row || reduces_column)) return false;
  if (x->after) return may_come_after(n, x);
  if (!reduces_row && !reduces_column) return true;
  x->is_rowless = false;
  x->pass = x->level;
  if (reduces_row) {
    x->late = n->n_late++;
    x->after = true;
  } else {
    x->index = n->n_reductions++;
    if (!kernel_stream(n, x)) x->level++;
  }
  x->phase = phase_after_operands(n, x, x->pass);
  x->ready = x->phase + 1;
  x->step = 0;
  x->is_product = kernel_is_product(n, x);
  if ((x->mask | x->reduces) >> n->column & 1) need_pass(n, x->pass);
  return has_few_points(n, x);
}

static bool set_levels(kernel_nest *n) {
  n->n_passes = n->n_reductions = n->n_late = 0;
  for (kernel_node *node = n->nodes; node < n->nodes + n->n_nodes; node++)
    if (!set_level(n, node)) return false;
  for (kernel_output *o = n->outputs; o < n->outputs + n->n_outputs; o++) {
    const kernel_node *x = &n->nodes[o->node];
    bool has_row = x->mask >> n->row & 1;
    o->level = x->level;
    o->phase = x->step + kernel_ends_phase(n, x);
    o->after = x->after || !has_row;
    if ((!has_row && !x->after && !x->is_rowless) || !may_be_stored(n, x, o->after)) return false;
    if (!o->after && x->mask >> n->column & 1) need_pass(n, x->level);
  }
  return n->n_passes > 0;
}

static bool is_legal(kernel_nest *n, choice c) {
  set_roles(n, c);
  n->staged = false;
  if (!set_levels(n)) return false;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    n->staged |= x->is_product || x->n_terms > 0;
  return !n->staged || set_levels(n);
}

static void size_nest(kernel_nest *n) {
  kernel_mark_packed(n);
  cost_set_sizes(n);
}

/* The cheapest, of those with this column; column -1: any. False: none is legal. */
static bool find_roles(kernel_nest *n, int32_t column, double *out_cost) {
  choice best = {.row = -1};
  double least = 0;
  for (int32_t i = 0; i < 2 * n->n_axes * n->n_axes; i++) {
    choice c = {i / 2 / n->n_axes, i / 2 % n->n_axes, i % 2};
    uint32_t tile = 1u << c.row | 1u << c.column;
    if (column >= 0 && c.column != column) continue;
    if (c.row == c.column || (n->positions | n->strided) & tile || !is_legal(n, c)) continue;
    size_nest(n);
    double cost = cost_of_nest(n);
    if (best.row >= 0 && cost >= least) continue;
    least = cost;
    best = c;
  }
  *out_cost = least;
  return best.row >= 0 && is_legal(n, best);
}

/* Two axes as one where that makes cheaper columns. */
static void merge_columns(kernel_nest *n, double cost) {
  kernel_nest best = *n;
  for (int32_t b = 1; b < n->n_axes; b++)
    for (int32_t a = 0; a < b; a++) {
      if (!kernel_may_merge(n, a, b)) continue;
      kernel_nest trial = kernel_merged(n, a, b);
      double merged;
      if (!find_roles(&trial, a, &merged) || merged >= cost) continue;
      cost = merged;
      best = trial;
    }
  *n = best;
}

bool kernel_choose_roles(kernel_nest *n) {
  double cost;
  if (!find_roles(n, -1, &cost) && !(kernel_merge_axes(n) && find_roles(n, -1, &cost)))
    return false;
  merge_columns(n, cost);
  size_nest(n);
  return true;
}
