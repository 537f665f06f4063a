#include "kernel/cost.h"

#include <math.h>

#include "ir/turned.h"
#include "machine/cpu.h"
#include "machine/tuned.h"
#include "kernel/elementwise.h"
#include "kernel/pack.h"
#include "kernel/product.h"
#include "kernel/promote.h"
#include "base/ints.h"

double cost_weight(const kernel_nest *n, const kernel_node *x) {
  ir_dtype dtype = ir_type_at(n->m, x->value)->dtype;
  bool wide = ir_dtype_bytes(dtype) >= 8;
  switch (x->kind) {
    case IR_OP_CONSTANT:
    case IR_OP_IOTA:
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE:
    case IR_OP_CARRY:
    case IR_OP_SLICE: return 0;
    case IR_OP_REPEAT:
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_GATHER: return TUNED_SLOW;
    case IR_OP_REDUCE: return kernel_is_variadic(x) ? TUNED_VARIADIC : 1;
    case IR_OP_ROUND: return TUNED_ROUND;
    case IR_OP_DOT_GENERAL: return machine_has_fma(&n->machine) ? 1 : 2; /* a multiply-add */
#define FUNCTION(op, kernel_f32, kernel_f64, xla_f32, xla_f64)                                     \
  case IR_OP_##op:                                                                                 \
    return !ir_is_float(dtype) ? TUNED_SLOW : wide ? (kernel_f64) : (kernel_f32);
#include "machine/functions.def"
#undef FUNCTION
    default: return ir_kind_flags(x->kind) & IR_FLAG_H ? TUNED_FUNCTION : 1;
  }
}

/* Index tuples, where the column axis counts in whole vectors. */
static double points_of(const kernel_nest *n, uint32_t mask) {
  double points = 1;
  for (int32_t a = 0; a < n->n_axes; a++) {
    if (!(mask >> a & 1)) continue;
    int64_t extent = n->extent[a];
    points *= (double)(a == n->column ? (extent + n->lanes - 1) / n->lanes : extent);
  }
  return points;
}

/* Of a lane that is read with a stride: a line of the cache, which is gone again before its next
 * element is looked at where so many lines stay nowhere until then. */
static double line_cost(const kernel_nest *n, ir_value input, const kernel_axes *axes) {
  const ir_type_data *t = ir_type_at(n->m, input);
  double stride = (double)(kernel_stride(t->dims, axes, n->column) * ir_dtype_bytes(t->dtype)),
         lines = fmin(1, stride / CPU_LINE_BYTES);
  bool is_along_rows = kernel_stride(t->dims, axes, n->row) == 1;
  double between = (double)(n->extent[n->column] * (is_along_rows ? 1 : n->extent[n->row]));
  if (between * lines * CPU_LINE_BYTES <= cpu_resident_bytes(&n->machine) ||
      (double)ir_value_bytes(n->m, input) <= (double)n->machine.l3_bytes)
    return 0;
  return TUNED_MISS * lines / (is_along_rows ? TUNED_ROWS : 1);
}

static bool has_adjacent_points(const kernel_nest *n, const int64_t *dims,
                                const kernel_axes *axes) {
  for (int32_t a = 0; a < n->n_axes; a++)
    if (n->role[a] < KERNEL_OUTER && kernel_has_axis(axes, a) && n->extent[a] >= n->lanes &&
        kernel_stride(dims, axes, a) == 1)
      return true;
  return false;
}

/* Of a lane that goes into a copy or a table, without rows: where points lie side by side it is one
 * of a vector of them. So far apart lines share few sets of the caches. */
static double copied_lane_cost(const kernel_nest *n, ir_value input, const kernel_axes *axes) {
  const ir_type_data *t = ir_type_at(n->m, input);
  int64_t stride = kernel_stride(t->dims, axes, n->column);
  if (stride <= 1 || has_adjacent_points(n, t->dims, axes)) return 0;
  bool is_apart = stride * ir_dtype_bytes(t->dtype) >= TUNED_APART_BYTES;
  return TUNED_STRIDED_LANE + (is_apart ? TUNED_L3_MISS : 0);
}

/* Reads that can be neither vectors nor packed, and writes that are no vectors. */
static double cost_of_gathers(const kernel_nest *n, const kernel_node *x) {
  double cost = 0;
  for (ir_value v, i = 0; (v = ir_operand_at(n->m, x->op, i)); i++) {
    const kernel_axes *axes = &x->operands[i];
    if (kernel_node_of(n, v) || kernel_input_of(n, v) < 0) continue;
    ir_value input = ir_operand(n->m, n->loop, (uint32_t)kernel_input_of(n, v));
    bool both = kernel_has_axis(axes, n->row) && kernel_has_axis(axes, n->column);
    if (both && kernel_stride(ir_type_at(n->m, input)->dims, axes, n->column) != 1)
      cost += (TUNED_STRIDED_LANE + line_cost(n, input, axes)) * n->lanes *
              points_of(n, x->mask | x->reduces);
    if (!((x->mask | x->reduces) >> n->row & 1))
      cost += copied_lane_cost(n, input, axes) * n->lanes * points_of(n, x->mask | x->reduces);
  }
  return cost;
}

/* Of a gather's operand, where one index of what both have is looked at. */
static double table_bytes(const kernel_nest *n, const kernel_node *x) {
  uint32_t both = kernel_axes_mask(&x->operands[0]) & kernel_axes_mask(&x->operands[1]);
  double bytes = (double)ir_dtype_bytes(ir_type_at(n->m, kernel_gathered_input(n, x))->dtype);
  for (int32_t d = 0; d < x->operands[0].rank; d++) {
    int32_t a = x->operands[0].of[d];
    if (a >= 0 && !(both >> a & 1)) bytes *= (double)n->extent[a];
  }
  return bytes;
}

/* Lines on their way: all, if what they are looked for in does not stay in the caches; if it does,
 * but comes from memory, each once. */
static double cost_of_misses(const kernel_nest *n, const kernel_node *x, double lines,
                             double each) {
  ir_value input =
      ir_operand(n->m, n->loop, (uint32_t)kernel_input_of(n, kernel_gathered_input(n, x)));
  double whole = (double)ir_value_bytes(n->m, input);
  if (whole <= cpu_resident_bytes(&n->machine)) return 0;
  if (table_bytes(n, x) > cpu_resident_bytes(&n->machine))
    return lines * (whole > (double)n->machine.l3_bytes ? each : fmin(each, TUNED_L3_MISS));
  return TUNED_MISS * fmin(lines, whole / CPU_LINE_BYTES);
}

/* Loads of vectors, or of single lanes, and the way to them. */
static double cost_of_gather(const kernel_nest *n, const kernel_node *x) {
  double places = points_of(n, kernel_axes_mask(&x->operands[1]) & x->mask),
         points = points_of(n, x->mask);
  if (kernel_gathers_lanes(n, x))
    return TUNED_LANE_LOAD * n->lanes * points +
           cost_of_misses(n, x, places * n->lanes, TUNED_LANE_MISS);
  double window =
      points / places * (x->mask >> n->column & 1 ? machine_vector_bytes(&n->machine) : 4);
  return points + cost_of_misses(n, x, places * ceil(window / CPU_LINE_BYTES), TUNED_MISS);
}

static double cost_of_scatters(const kernel_nest *n) {
  double cost = 0;
  for (const kernel_output *o = n->outputs; o < n->outputs + n->n_outputs; o++)
    if (kernel_has_axis(&o->axes, n->column) && kernel_stride(o->dims, &o->axes, n->column) != 1)
      cost += TUNED_STRIDED_LANE * n->lanes * points_of(n, n->nodes[o->node].mask);
  return cost;
}

static int32_t lanes_of(const kernel_nest *n) {
  int64_t widest = 0;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    ir_dtype dtype = ir_type_at(n->m, x->value)->dtype;
    if (ir_is_float(dtype) && ir_dtype_bytes(dtype) > widest) widest = ir_dtype_bytes(dtype);
  }
  return machine_vector_bytes(&n->machine) / (int32_t)(widest ? widest : 4);
}

void cost_set_lanes(kernel_nest *n) { n->lanes = lanes_of(n); }

/* ---- passes: which nodes with columns each one computes ---- */
typedef struct census {
  const kernel_nest *n;
  int32_t *passes, *seen; /* by node: how many compute it; the last one that was counted */
} census;

static void count_value(census *c, ir_value v, int32_t pass) {
  const kernel_node *x = kernel_node_of(c->n, v);
  if (!x || !((x->mask | x->reduces) >> c->n->column & 1) || x->index >= 0 || x->late >= 0) return;
  int32_t *seen = &c->seen[x - c->n->nodes];
  if (*seen == pass + 1) return;
  *seen = pass + 1;
  c->passes[x - c->n->nodes]++;
  for (uint32_t i = 0; i < x->n_operands; i++) count_value(c, ir_operand(c->n->m, x->op, i), pass);
}

static void count_pass(census *c, int32_t pass) {
  const kernel_nest *n = c->n;
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    if ((x->index < 0 && x->late < 0) || x->pass != pass) continue;
    c->passes[k] = 1;
    for (uint32_t i = 0; i < x->n_operands; i++) count_value(c, ir_operand(n->m, x->op, i), pass);
  }
  for (uint32_t j = 0; j < n->n_outputs; j++)
    if (n->outputs[j].level == pass) count_value(c, n->outputs[j].value, pass);
}

static int32_t *passes_by_node(const kernel_nest *n) {
  census c = {n, ARENA_ARRAY(n->a, int32_t, n->n_nodes + 1),
              ARENA_ARRAY(n->a, int32_t, n->n_nodes + 1)};
  for (int32_t pass = 0; pass < n->n_passes; pass++) count_pass(&c, pass);
  return c.passes;
}

/* Without rows, and small enough to be copied once for a chunk of them (pack.c). */
static bool may_be_packed(const kernel_nest *n, const kernel_node *x) {
  return x->level == 0 && x->is_rowless &&
         kernel_extent_of(n, kernel_point_axes(n, x->mask)) <= COST_MOST_PACKED;
}

/* How often a node is computed: in the passes that need it, again for each group of rows if it has
 * no rows and does not wait for all of them, for each outer index, and in each loop over an axis
 * inside of the tile. */
static double times_computed(const kernel_nest *n, const kernel_node *x, int32_t passes,
                             int32_t loops) {
  uint32_t mask = x->mask | x->reduces;
  bool is_summed_up = x->index >= 0 || x->late >= 0;
  double times = loops > 1 && !is_summed_up ? loops : 1;
  if (mask >> n->column & 1) {
    if (passes > times) times = passes; /* each with loops of its own */
    double rows = may_be_packed(n, x) ? (double)n->sizes.chunk : TUNED_ROWS;
    if (!(mask >> n->row & 1) && !x->after) times *= ceil((double)n->extent[n->row] / rows);
  }
  for (int32_t a = 0; a < n->n_axes; a++)
    if (!(mask >> a & 1) && n->role[a] == KERNEL_OUTER) times *= (double)n->extent[a];
  return times;
}

typedef struct readers { /* loops over axes inside the tile, and what they read */
  const kernel_nest *n;
  int32_t *loops, *seen; /* by node: how many compute it; the last one that came by */
} readers;

/* What a loop over these axes computes anew in each turn. */
static void count_turns(readers *r, ir_value v, uint32_t axes, int32_t loop) {
  const kernel_node *x = kernel_node_of(r->n, v);
  if (!x || !(x->mask & axes) || r->seen[x - r->n->nodes] == loop) return;
  r->seen[x - r->n->nodes] = loop;
  r->loops[x - r->n->nodes]++;
  for (uint32_t i = 0; x->index < 0 && x->late < 0 && i < x->n_operands; i++)
    count_turns(r, ir_operand(r->n->m, x->op, i), axes, loop);
}

/* Those that a sum, or accumulators for many points, run over. */
static uint32_t looped_axes(const kernel_nest *n, const kernel_node *x) {
  uint32_t points = x->index >= 0 || x->late >= 0 ? kernel_point_axes(n, x->mask) : 0, axes = 0;
  if (kernel_extent_of(n, points) > COST_UNROLL && !x->is_product) axes = points;
  for (int32_t a = 0; a < n->n_axes; a++)
    if (kernel_point_axes(n, x->reduces) >> a & 1 && n->extent[a] > COST_UNROLL) axes |= 1u << a;
  return axes;
}

static int32_t *loops_by_node(const kernel_nest *n) {
  readers r = {n, ARENA_ARRAY(n->a, int32_t, n->n_nodes + 1),
               ARENA_ARRAY(n->a, int32_t, n->n_nodes + 1)};
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    uint32_t axes = looped_axes(n, x);
    for (uint32_t i = 0; axes && i < x->n_operands; i++)
      count_turns(&r, ir_operand(n->m, x->op, i), axes, (int32_t)k + 1);
  }
  return r.loops;
}

/* ---- sums inside of sums ---- */
/* The loops that are open around a value: over the tiles, and inside of one, outermost first. */
typedef struct open_loops {
  bool in_tiles, in_table;
  int32_t count, axis[KERNEL_MOST_AXES];
  double turns[KERNEL_MOST_AXES]; /* of each; where its axis was another one's, those of that */
} open_loops;

static void open_over(open_loops *open, const kernel_nest *n, uint32_t axes) {
  for (int32_t a = 0; a < n->n_axes; a++) {
    if (!(axes >> a & 1) || open->count >= KERNEL_MOST_AXES) continue;
    open->axis[open->count] = a;
    open->turns[open->count++] = (double)n->extent[a];
  }
}

/* What a slice, pad or concatenation counts otherwise on its other side: the loop over its index is
 * one over the operand's. */
static open_loops recounted(open_loops open, const kernel_nest *n, const kernel_node *x,
                            uint32_t operand) {
  const kernel_axes *from = &x->operands[operand];
  bool is_strided = x->kind == IR_OP_SLICE || x->kind == IR_OP_PAD || x->kind == IR_OP_CONCATENATE;
  for (int32_t d = 0; is_strided && d < from->rank; d++) {
    if (from->of[d] < 0 || kernel_keeps_index(n->m, x->op, operand, d)) continue;
    for (int32_t i = 0; i < open.count; i++)
      if (open.axis[i] == x->result.of[d]) open.axis[i] = from->of[d];
  }
  return open;
}

typedef struct depths {
  const kernel_nest *n;
  double *again; /* by node: how often it is computed for the same indices, at most; number by
                    number for as long as so many vectors */
  int32_t steps;
} depths;

/* Of what is the same in all tiles of a row of them, or in all tiles, and is made in a loop inside:
 * what is not is moved out by LLVM. Of what has columns and no rows times_computed() knows. */
static double tiles_of(const kernel_nest *n, const kernel_node *x, const open_loops *open) {
  const kernel_sizes *s = &n->sizes;
  bool is_looped = false;
  for (int32_t i = 0; i < open->count; i++) is_looped |= open->turns[i] > COST_UNROLL;
  if (!open->in_tiles || !is_looped || x->mask >> n->column & 1) return 1;
  double panels = (double)ceil_div(n->extent[n->column], (int64_t)s->vectors * n->lanes);
  bool has_row = x->mask >> n->row & 1;
  return has_row ? panels : panels * (double)ceil_div(n->extent[n->row], s->rows);
}

/* How often loops make a value for the same indices. Of what an unrolled one recounts only what it
 * needs is made. */
static double turns_of(const kernel_nest *n, const kernel_node *x, const open_loops *open) {
  double turns = 1;
  for (int32_t i = 0; i < open->count; i++) {
    double own = (double)n->extent[open->axis[i]];
    if (!(x->mask >> open->axis[i] & 1)) turns *= open->turns[i];
    else if (open->turns[i] > fmax(own, COST_UNROLL)) turns *= open->turns[i] / own;
  }
  return turns;
}

/* No table is made while one is filled. */
static open_loops loops_of_table(const kernel_nest *n, const kernel_node *x) {
  open_loops open = {.in_table = true};
  open_over(&open, n, kernel_point_axes(n, x->mask));
  return open;
}

/* A value is made in the innermost loop whose index it has (kernel_hoist), or is copied for all
 * indices (pack.c, table.c); loops around that which it does not know of make it again. */
static void find_again(depths *d, ir_value v, open_loops open) {
  enum { MOST_STEPS = 4096 };
  const kernel_node *x = kernel_node_of(d->n, v);
  if (!x || x->index >= 0 || x->late >= 0 || d->steps++ > MOST_STEPS) return;
  if (x->packed != KERNEL_NOT_PACKED) open = (open_loops){0};
  else if (!open.in_table && kernel_has_table(d->n, x)) open = loops_of_table(d->n, x);
  while (open.count && !(x->mask >> open.axis[open.count - 1] & 1)) open.count--;
  if (!open.count && !(x->mask >> d->n->column & 1)) open.in_tiles = false; /* once for a row */
  double again = tiles_of(d->n, x, &open) * turns_of(d->n, x, &open);
  if (open.in_table && ir_kind_flags(x->kind) & IR_FLAG_H) again *= TUNED_ALONE;
  double *most = &d->again[x - d->n->nodes];
  if (again > *most) *most = again;
  open_over(&open, d->n, kernel_point_axes(d->n, x->reduces));
  for (uint32_t i = 0; i < x->n_operands; i++)
    find_again(d, ir_operand(d->n->m, x->op, i), recounted(open, d->n, x, i));
}

/* A result, or a reduction that is kept, is made point by point, and what it sums over inside of
 * the tile one by one; a product has its own tile. */
static open_loops loops_over_points(const kernel_nest *n, const kernel_node *x) {
  open_loops open = {.in_tiles = x && (x->mask | x->reduces) >> n->column & 1};
  if (!x || x->is_product) return open;
  open_over(&open, n, kernel_point_axes(n, x->mask & ~n->positions));
  if (x->index >= 0 || x->late >= 0) open_over(&open, n, kernel_point_axes(n, x->reduces));
  return open;
}

/* Around an operand of a reduction: of a product the grid, or the table that it is multiplied
 * with. */
static open_loops loops_around(const kernel_nest *n, const kernel_node *x, uint32_t operand) {
  const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, operand));
  bool is_table = x->is_product && from && from != kernel_grid_node(n, x);
  return is_table ? loops_of_table(n, from) : loops_over_points(n, x);
}

static double *again_by_node(const kernel_nest *n) {
  depths d = {n, ARENA_ARRAY(n->a, double, n->n_nodes + 1), 0};
  for (uint32_t k = 0; k < n->n_nodes; k++) d.again[k] = 1;
  for (uint32_t j = 0; j < n->n_outputs; j++) {
    ir_value v = n->outputs[j].value;
    find_again(&d, v, loops_over_points(n, kernel_node_of(n, v)));
  }
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    for (uint32_t i = 0; (x->index >= 0 || x->late >= 0) && i < x->n_operands; i++)
      find_again(&d, ir_operand(n->m, x->op, i), loops_around(n, x, i));
  return d.again;
}

/* Multiply-adds with the points in lanes, and the grid to L1 and back, element by element. What is
 * left of the register tile's rows runs one by one. */
static double cost_of_product(const kernel_nest *n, const kernel_node *x) {
  int64_t along = n->extent[x->late >= 0 ? n->column : n->row];
  double odd = (double)(along % cost_product_rows(n)) / (double)along;
  double points = (double)kernel_extent_of(n, kernel_point_axes(n, x->mask));
  double padded = ceil(points / n->lanes) * n->lanes;
  return points_of(n, x->mask | x->reduces) * padded / points * TUNED_PRODUCT * cost_weight(n, x) *
         (1 + (TUNED_ODD_ROW - 1) * odd);
}

/* Partial results of a reduction over rows, in one span. */
static double partial_bytes(const kernel_nest *n, const kernel_node *x) {
  double elements = (double)kernel_extent_of(n, kernel_point_axes(n, x->mask));
  if (x->mask >> n->column & 1) elements *= (double)n->extent[n->column];
  return elements * (double)ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype);
}

/* Work items where rows are reduced, for each outer index: fewer, but some for every core, where
 * their partial results are large. */
static int64_t spans_of(const kernel_nest *n) {
  double bytes = 1;
  for (kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if (x->late >= 0) bytes += partial_bytes(n, x);
  int64_t outer = kernel_outer_extent(n), fit = (int64_t)(CPU_FRESH_FROM_BYTES / bytes);
  int64_t most = clamp64(n->machine.cores, TUNED_LEAST_SPANS, INT32_MAX);
  int64_t spans = clamp64(fit, clamp64(2 * n->machine.cores, 1, TUNED_LEAST_SPANS), most);
  if (spans > n->machine.cores) spans -= spans % n->machine.cores;
  return outer >= spans ? 1 : spans / (outer > 0 ? outer : 1);
}

/* Of all spans: memory that is touched for the first time. */
static double cost_of_partials(const kernel_nest *n, const kernel_node *x) {
  return partial_bytes(n, x) * (double)(spans_of(n) * kernel_outer_extent(n)) * TUNED_FIRST_TOUCH;
}

static bool has_looped_points(const kernel_nest *n, const kernel_node *x) {
  return (x->index >= 0 || x->late >= 0) && x->mask & ~n->positions &&
         kernel_extent_of(n, kernel_point_axes(n, x->mask & ~n->positions)) > COST_UNROLL;
}

static bool has_products(const kernel_nest *n, bool over_rows) {
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if (x->is_product && (x->late >= 0) == over_rows) return true;
  return false;
}

/* How often what is copied of the columns is. */
static double copies_of(const kernel_nest *n) {
  return (double)(kernel_outer_extent(n) * ceil_div(n->extent[n->row], n->sizes.chunk));
}

/* Of the table that a product reads in place of an operand: lane by lane, where points do not lie
 * side by side in what it is made of. */
static double cost_of_table(const kernel_nest *n, const kernel_node *x) {
  ir_value v = ir_operand(n->m, x->op, 1 - kernel_grid_operand(n, x));
  const kernel_axes *axes = &x->operands[1 - kernel_grid_operand(n, x)];
  if (x->late >= 0 || !kernel_product_has_table(n, x)) return 0;
  double points = (double)kernel_extent_of(n, kernel_point_axes(n, x->mask)),
         elements = points * (double)n->extent[n->column] * copies_of(n);
  return elements * (kernel_table_is_turned(n, v, axes, kernel_product_axis(n, x))
                         ? 1.0 / n->lanes
                         : TUNED_STRIDED_LANE);
}

/* Columns are packed again for each outer index and each chunk of rows: too much where there are
 * few rows to it. Of many rows it is in what a tile costs, where a chunk has half as many as pay.
 */
static double cost_of_packing(const kernel_nest *n) {
  double vectors = kernel_copied_bytes(n) / machine_vector_bytes(&n->machine),
         free =
             (double)(kernel_outer_extent(n) * (n->extent[n->row] / TUNED_LEAST_PACKED_CHUNK * 2));
  return TUNED_PACKING_ROWS * vectors * (double)n->extent[n->column] *
         fmax(0, copies_of(n) - fmax(1, free));
}

/* A top-k: its rows, how many elements each keeps, and sees. */
static double list_of(const kernel_nest *n, const kernel_node *x, double *out_k, double *out_seen) {
  double kept = (double)kernel_extent_of(n, x->mask),
         rows = (double)kernel_extent_of(n, x->mask & ~n->positions);
  *out_k = kept / rows;
  *out_seen = (double)kernel_extent_of(n, x->reduces);
  return rows;
}

static double cost_of_lists(const kernel_nest *n, const kernel_node *x) {
  double k, seen;
  if (x->kind != IR_OP_CHLO_TOP_K) return 0;
  double rows = list_of(n, x, &k, &seen);
  return rows * machine_inserted(k, seen) * TUNED_INSERTED;
}

static double cost_of_heaps(const kernel_nest *n, const kernel_node *x) {
  machine_rates rates = machine_rates_of(&n->machine);
  double k, seen, rows = list_of(n, x, &k, &seen);
  return rows * machine_heap_ns(&rates, k, seen) * rates.vector_ops;
}

/* Of ops that are instructions of their own, in XLA's loops, too. */
static double own_weight(const kernel_nest *n, const kernel_node *x) {
  return x->is_added && machine_has_fma(&n->machine) ? 0 : cost_weight(n, x);
}

/* In a kernel. */
static double weight_of(const kernel_nest *n, const kernel_node *x) {
  bool in_turn = x->kind == IR_OP_EXPONENTIAL && cost_exps_at_once(n) > 1;
  return in_turn ? TUNED_EXP_IN_TURN : own_weight(n, x);
}

/* Cycles of cores without work, of those for which there is enough: XLA's loop would have it on as
 * many. */
static double cost_of_idling(const kernel_nest *n, double cost) {
  double items = (double)(n->sizes.spans * n->sizes.column_spans * kernel_outer_extent(n));
  double cores = floor(fmin((double)n->machine.cores, cost / TUNED_A_CORES_WORK));
  if (items <= 0 || cores <= 1) return 0;
  return cost * (ceil(items / cores) * cores / items - 1);
}

double cost_of_nest(const kernel_nest *n) {
  CTX_CHECK(n->m->ctx, n->sizes.spans > 0);
  double cost = cost_of_scatters(n) + cost_of_packing(n);
  int32_t *loops = loops_by_node(n), *passes = passes_by_node(n);
  double *again = again_by_node(n);
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    if (x->which) continue;
    if (x->late >= 0) cost += cost_of_partials(n, x);
    if (x->is_product) {
      cost += cost_of_product(n, x) + cost_of_table(n, x);
      continue;
    }
    double points = points_of(n, (x->mask & ~n->positions) | x->reduces);
    if (x->late >= 0) cost += 2 * points; /* in memory */
    else if (has_looped_points(n, x)) cost += TUNED_LOOPED_POINT * points;
    cost += x->turns * again[k] * times_computed(n, x, passes[k], loops[k]) *
                (kernel_is_gather(x) ? cost_of_gather(n, x)
                                     : weight_of(n, x) * points + cost_of_gathers(n, x)) +
            cost_of_lists(n, x);
  }
  return cost + cost_of_idling(n, cost);
}

static double write_ns(const machine_rates *r, double bytes) {
  return bytes / (bytes < CPU_FRESH_FROM_BYTES ? r->write_bytes : r->fresh_bytes);
}

static double elements_of(const kernel_nest *n, uint32_t mask) {
  return (double)kernel_extent_of(n, mask);
}

/* Of an input, in a pass: all, or what is gathered if nothing else reads it. */
static double bytes_read(const kernel_nest *n, uint32_t input) {
  double all = (double)ir_value_bytes(n->m, ir_operand(n->m, n->loop, input)), gathered = 0;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    for (ir_value v, i = 0; (v = ir_operand_at(n->m, x->op, i)); i++) {
      if (kernel_node_of(n, v) || kernel_input_of(n, v) != (int32_t)input) continue;
      if (!kernel_is_gather(x) || i > 0) return all;
      gathered += elements_of(n, x->mask) * (double)ir_dtype_bytes(ir_type_at(n->m, v)->dtype);
    }
  }
  return fmin(all, gathered);
}

static double results_ns(const kernel_nest *n) {
  machine_rates rates = machine_rates_of(&n->machine);
  double ns = 0;
  for (uint32_t j = 0; j < n->n_outputs; j++)
    ns += write_ns(&rates, (double)ir_value_bytes(n->m, ir_result(n->m, n->loop, j)));
  return ns;
}

/* Inputs that are larger than the caches come from memory once a pass, beside the arithmetic;
 * results are new memory. */
double cost_time_ns(const kernel_nest *n) {
  machine_rates rates = machine_rates_of(&n->machine);
  double cycles = cost_of_nest(n), read = 0;
  for (uint32_t i = 0; i < n->n_inputs; i++) {
    double bytes = bytes_read(n, i);
    if (bytes > cpu_resident_bytes(&n->machine))
      read += bytes * (n->n_passes > 1 ? n->n_passes : 1);
  }
  return CPU_CALL_NS + fmax(cycles / rates.vector_ops, read / rates.read_bytes) + results_ns(n);
}

double cost_gain_over(const kernel_nest *n, double xla) {
  machine_rates rates = machine_rates_of(&n->machine);
  double bytes = 0;
  for (uint32_t i = 0; i < n->n_inputs; i++) bytes += bytes_read(n, i);
  double both = (bytes / rates.read_bytes + results_ns(n)) * rates.vector_ops;
  return xla > 0 ? (xla + both) / (cost_of_nest(n) + both) : 0;
}

/* ---- the same loop by XLA ---- */
/* What sums nothing up is a product of broadcasts in XLA, which fuses it. */
static bool is_dot_in_xla(const kernel_node *x) {
  return x->kind == IR_OP_DOT_GENERAL && x->reduces;
}

/* XLA writes what a dot, a top-k or a reduction of several operands reads, what a dot makes and
 * what a while carries; it fuses the rest. */
static double traffic_of(const kernel_nest *n, const kernel_node *x) {
  uint32_t tile = kernel_tile_axes(n);
  double bytes = 0;
  for (uint32_t i = 0; i < x->n_operands; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (!from || (from->mask & tile) != tile || from->kind == IR_OP_CONSTANT) continue;
    bytes +=
        elements_of(n, from->mask) * (double)ir_dtype_bytes(ir_type_at(n->m, from->value)->dtype);
  }
  if (is_dot_in_xla(x) && (x->mask & tile) == tile)
    bytes += elements_of(n, x->mask) * (double)ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype);
  if (x->kind == IR_OP_CARRY)
    bytes += elements_of(n, x->mask) * (double)ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype);
  return 2 * bytes / TUNED_BYTES_A_CYCLE;
}

static bool is_read_by_dot(const kernel_nest *n, const kernel_node *x) {
  for (const kernel_node *node = n->nodes; node < n->nodes + n->n_nodes; node++)
    for (uint32_t i = 0; i < node->n_operands; i++)
      if (node->kind == IR_OP_DOT_GENERAL && ir_operand(n->m, node->op, i) == x->value) return true;
  return false;
}

/* XLA computes f16 op by op and rounds each; bf16 it keeps as f32 while it can: not what a dot
 * makes or reads, which is in memory. */
static bool is_free_in_xla(const kernel_nest *n, const kernel_node *x) {
  if (x->kind != IR_OP_ROUND || kernel_round_format(n->m, x->op) != IR_BF16) return false;
  const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, 0));
  return !(from && from->kind == IR_OP_DOT_GENERAL) && !is_read_by_dot(n, x);
}

static bool is_narrow_extreme(const kernel_nest *n, const kernel_node *x) {
  return x->kind == IR_OP_REDUCE && ir_op_bool(n->m, x->op, KERNEL_WAS_BF16, false);
}

/* Of a vector in XLA's loops, at the rates of its fusions. */
static double fused_weight(const kernel_nest *n, const kernel_node *x) {
  machine_rates rates = machine_rates_of(&n->machine);
  ir_dtype dtype = ir_type_at(n->m, x->value)->dtype;
  bool wide = ir_dtype_bytes(dtype) >= 8;
  double elements = n->lanes * rates.vector_ops * (wide ? 2 : 1);
  double own = own_weight(n, x), simple = elements / rates.simple;
  if (own <= 0 || !ir_is_float(dtype)) return own <= 0 ? 0 : fmax(own, simple);
  switch (x->kind) {
#define FUNCTION(op, kernel_f32, kernel_f64, xla_f32, xla_f64)                                     \
  case IR_OP_##op:                                                                                 \
    return elements / rates.heavy * (wide ? (xla_f64) : (xla_f32));
#include "machine/functions.def"
#undef FUNCTION
    default: return ir_kind_flags(x->kind) & IR_FLAG_H ? elements / rates.heavy : simple;
  }
}

/* Of a vector's worth of multiply-adds of a product, at the rate of XLA's. */
static double dot_weight(const kernel_nest *n, const kernel_node *x) {
  machine_rates rates = machine_rates_of(&n->machine);
  bool wide = ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype) >= 8;
  return 2 * n->lanes * rates.vector_ops / (wide ? rates.gemm_f64_flops : rates.gemm_f32_flops);
}

/* Of a vector of elements: windows are copied, long ones as fast as memory is. */
static double gather_weight(const kernel_nest *n, const kernel_node *x) {
  machine_rates rates = machine_rates_of(&n->machine);
  uint32_t places = kernel_axes_mask(&x->operands[1]) & x->mask;
  double window = elements_of(n, x->mask) / elements_of(n, places),
         bytes = (double)ir_dtype_bytes(ir_type_at(n->m, x->value)->dtype);
  bool is_long = window * bytes >= TUNED_LONG_ROW_BYTES;
  double copied = is_long ? bytes * rates.vector_ops / rates.copied_bytes : TUNED_XLA_GATHERED;
  return (TUNED_XLA_GATHER / window + copied) * n->lanes;
}

/* Of what an elementwise op reads as it lies after a transpose: plan/cost.c. */
static double cost_of_turns(const kernel_nest *n, const kernel_node *x) {
  double cost = 0;
  for (ir_value v, i = 0; ir_is_elementwise(x->kind) && (v = ir_operand_at(n->m, x->op, i)); i++) {
    const kernel_node *from = kernel_node_of(n, v);
    ir_turn turn;
    if (!from || !ir_is_turned(n->m, from->op, &turn)) continue;
    machine_rates rates = machine_rates_of(&n->machine);
    double bytes = (double)ir_dtype_bytes(ir_type_at(n->m, v)->dtype);
    cost += elements_of(n, from->mask & ~n->positions) * rates.vector_ops *
            machine_apart_ns(&n->machine, &rates, turn.stride * bytes, turn.apart);
  }
  return cost;
}

double cost_of_xla(const kernel_nest *n) {
  double cost = 0;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    if (x->which || is_free_in_xla(n, x)) continue;
    double weight = is_dot_in_xla(x)              ? dot_weight(n, x)
                    : x->kind == IR_OP_CHLO_TOP_K ? TUNED_XLA_TOP_K * n->lanes
                    : x->kind == IR_OP_GATHER     ? gather_weight(n, x)
                    : kernel_is_variadic(x)       ? TUNED_XLA_VARIADIC * n->lanes
                    : is_narrow_extreme(n, x)     ? TUNED_XLA_NARROW_EXTREME * n->lanes
                                                  : fused_weight(n, x);
    bool sums = is_dot_in_xla(x) || x->kind == IR_OP_CARRY || x->kind == IR_OP_CHLO_TOP_K ||
                kernel_is_variadic(x) || is_narrow_extreme(n, x);
    cost += x->turns * weight * elements_of(n, (x->mask & ~n->positions) | x->reduces) / n->lanes;
    cost += x->turns * cost_of_turns(n, x);
    if (sums) cost += x->turns * traffic_of(n, x);
    if (x->kind == IR_OP_CHLO_TOP_K) cost += x->turns * cost_of_heaps(n, x);
  }
  return cost;
}

static bool has_long_contraction(const kernel_nest *n) {
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    uint32_t inner = x->reduces & ~(1u << n->column), tile = kernel_tile_axes(n);
    if (x->kind == IR_OP_DOT_GENERAL && kernel_extent_of(n, inner) > COST_UNROLL &&
        (x->mask & tile) == tile)
      return true;
  }
  return false;
}

int64_t cost_panel_rows(const kernel_nest *n) {
  int64_t rows = n->sizes.rows, fit = n->machine.l1_bytes / 3 / (n->sizes.block * 4) / rows * rows;
  if (has_products(n, true))
    fit = clamp64(TUNED_LONG_PANEL_BYTES / (n->sizes.block * 4), TUNED_LONG_PANEL,
                  TUNED_LONGEST_PANEL) /
          rows * rows;
  return fit < rows ? rows : fit;
}

bool cost_may_span_columns(const kernel_nest *n) {
  bool any = n->n_reductions > 0 && n->n_passes == 1 && !n->n_late;
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    any = any && !x->is_product && !x->n_terms;
  for (uint32_t j = 0; j < n->n_outputs; j++)
    any = any && !n->outputs[j].after && !kernel_has_axis(&n->outputs[j].axes, n->column);
  return any;
}

/* Rows of a work item: enough to pay for packing, and some fewer where cores would have no work; a
 * number of items that is a power of two, so that few threads have equally much. */
static int64_t chunk_of(const kernel_nest *n, int64_t packed_bytes) {
  int64_t cores = n->machine.cores, wanted = clamp64(2 * cores, TUNED_LEAST_CHUNKS, INT32_MAX);
  int64_t rows = n->extent[n->row], items = clamp64(kernel_outer_extent(n), 1, wanted), pieces = 1;
  bool products = has_products(n, false) || has_products(n, true),
       packs = packed_bytes && !products;
  int64_t least = packs          ? TUNED_LEAST_PACKED_CHUNK
                  : packed_bytes ? TUNED_LEAST_PRODUCT_CHUNK
                                 : n->sizes.rows,
          most = packs ? TUNED_MOST_PACKED_CHUNK : TUNED_MOST_CHUNK;
  int64_t few = least < TUNED_PACKING_ROWS ? least : TUNED_PACKING_ROWS;
  if (rows * n->extent[n->column] < TUNED_LEAST_SHARED) few = least;
  while ((pieces * items < wanted && rows / pieces >= 2 * least) || rows / pieces > most ||
         (pieces * items < cores && rows / pieces >= 2 * few))
    pieces *= 2;
  int64_t chunk = (rows + pieces - 1) / pieces;
  return (chunk + n->sizes.rows - 1) / n->sizes.rows * n->sizes.rows;
}

/* Columns in spans where there are too few work items for the cores; no more, since each span's
 * lists begin empty. */
static int64_t column_spans_of(const kernel_nest *n, int64_t items) {
  int64_t blocks = (n->extent[n->column] + n->sizes.block - 1) / n->sizes.block;
  int64_t wanted = n->machine.cores;
  if (items >= wanted || !cost_may_span_columns(n)) return 1;
  return clamp64((wanted + items - 1) / items, 1, blocks / TUNED_LEAST_SPAN + 1);
}

/* Registers for sums: three quarters, the rest for what is multiplied. */
static int32_t accumulators_of(const kernel_nest *n) {
  return machine_vector_registers(&n->machine) * 3 / 4 -
         (machine_has_fma(&n->machine) ? 0 : TUNED_PRODUCTS_IN_FLIGHT);
}

int32_t cost_product_rows(const kernel_nest *n) { return accumulators_of(n) / 2; }

/* With 16 registers all of a usual tile, which halves the time of a kernel product; with 32 it was
 * not measured. */
int32_t cost_exps_at_once(const kernel_nest *n) {
  return machine_vector_registers(&n->machine) < 32 ? KERNEL_MOST_AT_ONCE : 1;
}

/* Columns of a block: whole tiles, and where products have a sum for each column, whole tiles of
 * these, too: what is left of them runs row by row. */
static int64_t block_of(const kernel_nest *n, int64_t step, int64_t packed_bytes) {
  int64_t most =
      clamp64((int64_t)cpu_resident_bytes(&n->machine) / 2 / (packed_bytes ? packed_bytes : 1),
              step, TUNED_MOST_BLOCK);
  int64_t whole = step;
  while (has_products(n, true) && whole % cost_product_rows(n)) whole += step;
  if (whole > most) whole = step;
  return most / whole * whole;
}

void cost_set_sizes(kernel_nest *n) {
  bool wide = machine_vector_registers(&n->machine) >= 32;
  kernel_sizes *s = &n->sizes;
  s->rows = TUNED_ROWS;
  s->vectors = TUNED_VECTORS;
  if (has_products(n, false) || has_products(n, true)) s->rows = cost_product_rows(n);
  else if (has_long_contraction(n)) {
    s->vectors = accumulators_of(n) % 3 ? 2 : 3;
    s->rows = accumulators_of(n) / s->vectors;
  }
  int64_t across = (n->extent[n->column] + n->lanes - 1) / n->lanes;
  if (wide && s->rows <= 8 && across <= KERNEL_MOST_VECTORS && across % s->vectors)
    s->rows = TUNED_ROWS, s->vectors = (int32_t)across; /* no second, narrow tile */
  if (n->extent[n->row] < s->rows) s->rows = (int32_t)n->extent[n->row];
  int64_t step = (int64_t)s->vectors * n->lanes, bytes = kernel_packed_bytes(n, n->column);
  if (n->extent[n->column] < step) s->vectors = 1, step = n->lanes;
  s->block = block_of(n, step, bytes);
  s->chunk = chunk_of(n, bytes);
  int64_t chunks = (n->extent[n->row] + s->chunk - 1) / s->chunk, outer = kernel_outer_extent(n);
  int64_t spans = spans_of(n);
  s->spans = n->n_late && chunks > spans ? spans : chunks;
  s->column_spans = column_spans_of(n, s->spans * outer);
}
