/* Grids that are kept, and products of them with rows of points. docs/design/emitter.md.
 *
 * In: a pass whose rows run in panels. A value with rows and columns that a later phase or a
 * product reads is kept for one panel and one block of columns, in the scratch: [row][column]. A
 * product is a register tile of its own: rows (of a sum over the columns) or columns (of a sum over
 * the rows) by vectors of points, which the other operand has side by side, in the input itself or
 * copied to a table: of the block's columns, or of the chunk's rows.
 */
#include <math.h>

#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/emit.h"
#include "machine/tuned.h"

static uint32_t kernel_mask(const kernel_nest *n) { return 1u << n->row | 1u << n->column; }

static ir_dtype dtype_of(const kernel_emitter *e, const kernel_node *x) {
  return ir_type_at(e->n->m, x->value)->dtype;
}

/* ---- which reductions are products ---- */
static bool is_grid(const kernel_nest *n, const kernel_node *x, uint32_t operand) {
  uint32_t mask = kernel_axes_mask(&x->operands[operand]);
  const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, operand));
  return from && from->kind != IR_OP_CONSTANT && from->kind != IR_OP_IOTA &&
         (mask & kernel_mask(n)) == kernel_mask(n) && !kernel_point_axes(n, mask);
}

static bool has_unit_stride(const kernel_nest *n, const kernel_node *x, uint32_t operand,
                            int32_t axis) {
  int32_t input = kernel_input_of(n, ir_operand(n->m, x->op, operand));
  if (input < 0) return false;
  const int64_t *dims = ir_type_at(n->m, ir_operand(n->m, n->loop, (uint32_t)input))->dims;
  return kernel_stride(dims, &x->operands[operand], axis) == 1;
}

static bool has_points(const kernel_nest *n, const kernel_node *x, uint32_t operand) {
  uint32_t mask = kernel_axes_mask(&x->operands[operand]), points = kernel_point_axes(n, mask);
  ir_value v = ir_operand(n->m, x->op, operand);
  const kernel_node *from = kernel_node_of(n, v);
  if ((mask & kernel_mask(n)) != x->reduces || points != kernel_point_axes(n, x->mask))
    return false;
  if (from)
    return from->kind != IR_OP_CONSTANT && from->kind != IR_OP_IOTA &&
           (x->late >= 0 || from->is_rowless);
  return x->index >= 0 || has_unit_stride(n, x, operand, 31 - __builtin_clz(points));
}

static bool is_real(const kernel_nest *n, const kernel_node *x) {
  ir_dtype dtype = ir_type_at(n->m, x->value)->dtype;
  return dtype == IR_F32 || dtype == IR_F64;
}

bool kernel_is_product(const kernel_nest *n, const kernel_node *x) {
  uint32_t points = kernel_point_axes(n, x->mask);
  int64_t extent = kernel_extent_of(n, points);
  if (x->kind != IR_OP_DOT_GENERAL || !is_real(n, x) || __builtin_popcount(points) != 1 ||
      extent <= COST_UNROLL || extent > COST_MOST_PRODUCT ||
      x->reduces != 1u << (x->index >= 0 ? n->column : n->row) ||
      (x->mask & kernel_mask(n)) != (kernel_mask(n) & ~x->reduces))
    return false;
  return (is_grid(n, x, 0) && has_points(n, x, 1)) || (is_grid(n, x, 1) && has_points(n, x, 0));
}

/* The operand of a product that is the grid. */
static uint32_t grid_operand(const kernel_nest *n, const kernel_node *x) {
  return is_grid(n, x, 0) && has_points(n, x, 1) ? 0 : 1;
}

int32_t kernel_product_axis(const kernel_nest *n, const kernel_node *x) {
  CTX_CHECK(n->m->ctx, x->is_product && kernel_point_axes(n, x->mask));
  return 31 - __builtin_clz(kernel_point_axes(n, x->mask));
}

static int64_t padded_to_lanes(const kernel_nest *n, int64_t extent) {
  return (extent + n->lanes - 1) / n->lanes * n->lanes;
}

int64_t kernel_padded_points(const kernel_nest *n, const kernel_node *x) {
  int64_t points = kernel_extent_of(n, kernel_point_axes(n, x->mask));
  return x->is_product ? padded_to_lanes(n, points) : points;
}

/* ---- what is kept ---- */
static const kernel_node *grid_node(const kernel_nest *n, const kernel_node *x) {
  return kernel_node_of(n, ir_operand(n->m, x->op, grid_operand(n, x)));
}

static kernel_kept *find_kept(kernel_emitter *e, const kernel_node *x) {
  for (uint32_t i = 0; i < e->kept.count; i++)
    if (e->kept.at[i].node == x) return &e->kept.at[i];
  return NULL;
}

/* Vector operations of making the value again from inputs and row values, up to a few. */
static double effort(const kernel_nest *n, const kernel_node *x, int depth) {
  double sum = cost_weight(x);
  if (!(x->mask >> n->column & 1) || depth == 0) return 0;
  if (x->reduces) sum = (double)kernel_extent_of(n, x->reduces);
  for (uint32_t i = 0; i < x->n_operands && sum <= TUNED_HEAVY; i++) {
    const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, i));
    if (from && !kernel_ends_phase(n, from)) sum += effort(n, from, depth - 1);
  }
  return sum;
}

static void visit(kernel_emitter *e, ir_value v, int32_t phase);

static void visit_operands(kernel_emitter *e, const kernel_node *x, int32_t phase) {
  for (uint32_t i = 0; i < x->n_operands; i++) visit(e, ir_operand(e->n->m, x->op, i), phase);
}

/* at: twice the phase that reads it, or one more for a product, which comes after. */
static void keep(kernel_emitter *e, const kernel_node *x, int32_t at) {
  kernel_kept *k = find_kept(e, x);
  int32_t phase = kernel_phase_of(x, e->pass);
  if (!k) {
    VEC_PUSH(e->a, &e->kept, (kernel_kept){.node = x, .phase = phase});
    visit_operands(e, x, phase);
    k = find_kept(e, x);
  }
  if (at > k->last_use) k->last_use = at;
}

/* Once for each phase. */
static void visit(kernel_emitter *e, ir_value v, int32_t phase) {
  const kernel_nest *n = e->n;
  const kernel_node *x = kernel_node_of(n, v);
  if (!x || !(x->mask >> n->column & 1)) return;
  uint64_t bit = phase < 64 ? UINT64_C(1) << phase : 0, *visited = &e->visited[x - n->nodes];
  if (*visited & bit) return;
  *visited |= bit;
  bool is_whole = (x->mask & kernel_mask(n)) == kernel_mask(n) && !kernel_point_axes(n, x->mask);
  if (is_whole && !x->depth && kernel_phase_of(x, e->pass) < phase &&
      effort(n, x, 24) > TUNED_HEAVY) {
    keep(e, x, 2 * phase);
    return;
  }
  kernel_kept *k = find_kept(e, x); /* read in the phase that makes it, and in another */
  if (k && kernel_phase_of(x, e->pass) == phase) return;
  visit_operands(e, x, phase);
}

/* Of rows: not a multiple of what the cache maps to one set. */
static int64_t grid_stride(const kernel_nest *n) { return n->sizes.block + n->lanes; }

/* Whether the place of a kept grid is free when another is stored, at the end of its phase. */
static bool is_free_for(const kernel_emitter *e, const kernel_kept *old, const kernel_kept *k) {
  return old->phase < k->phase && old->last_use <= 2 * k->phase && !old->is_reused &&
         ir_dtype_bytes(dtype_of(e, old->node)) == ir_dtype_bytes(dtype_of(e, k->node));
}

static void place_kept(kernel_emitter *e, kernel_kept *k) {
  for (uint32_t i = 0; i < e->kept.count; i++) {
    kernel_kept *old = &e->kept.at[i];
    if (!old->base || !is_free_for(e, old, k)) continue;
    old->is_reused = true;
    k->base = old->base;
    return;
  }
  k->base = kernel_scratch(e, e->panel * grid_stride(e->n) * ir_dtype_bytes(dtype_of(e, k->node)));
}

void kernel_plan_kept(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  e->kept.count = 0;
  memset(e->visited, 0, n->n_nodes * sizeof *e->visited);
  for (uint32_t k = 0; k < n->n_nodes && !e->finishes; k++) {
    const kernel_node *x = &n->nodes[k];
    if ((x->index < 0 && x->late < 0) || x->pass != e->pass) continue;
    if (x->is_product) keep(e, grid_node(n, x), 2 * x->phase + 1);
    else visit_operands(e, x, x->phase);
  }
  for (uint32_t j = 0; j < n->n_outputs && !e->finishes; j++)
    if (!n->outputs[j].after && n->outputs[j].level == e->pass)
      visit(e, n->outputs[j].value, n->outputs[j].phase);
  e->panel = e->kept.count ? cost_panel_rows(n) : n->sizes.chunk;
  for (int32_t phase = 0; phase < kernel_phases_of(n, e->pass); phase++)
    for (uint32_t i = 0; i < e->kept.count; i++)
      if (e->kept.at[i].phase == phase) place_kept(e, &e->kept.at[i]);
}

static bool packs_rows(const kernel_nest *n) {
  for (uint32_t k = 0; k < n->n_nodes; k++)
    if (n->nodes[k].packed == KERNEL_PACKED_ROWS) return true;
  return false;
}

/* Packed rows lie in groups of a tile, and no step reads from two. */
int32_t kernel_rows_of_phase(const kernel_emitter *e) {
  int32_t rows = e->n->sizes.rows, few = cost_exps_at_once(e->n) / e->n->sizes.vectors;
  few = few < TUNED_FEW_ROWS ? TUNED_FEW_ROWS : few;
  if (!e->n->staged) return rows;
  while (few < rows && rows % few && packs_rows(e->n)) few--;
  for (uint32_t i = 0; i < e->kept.count; i++)
    if (e->kept.at[i].phase == e->phase && kernel_ends_phase(e->n, e->kept.at[i].node)) return rows;
  return few < rows ? few : rows;
}

static const char *kept_at(kernel_emitter *e, const kernel_kept *k, int32_t r, int32_t c) {
  ir_dtype dtype = dtype_of(e, k->node);
  const char *row = kernel_line(e, "sub i64 %s, %s", e->row_local[0], e->panel_begin);
  const char *p = kernel_settled(e, dtype, k->base, kernel_index(e, "0", row, grid_stride(e->n)));
  p = kernel_after(e, dtype, p, e->column_local);
  return kernel_after(e, dtype, p, kernel_int(e, r * grid_stride(e->n) + (int64_t)c * e->n->lanes));
}

bool kernel_read_kept(kernel_emitter *e, const kernel_node *x, kernel_grid *g) {
  const kernel_kept *k = find_kept(e, x);
  if (!k || k->phase >= e->phase || !e->panel_begin) return false;
  for (int32_t r = 0; r < g->rows; r++)
    for (int32_t c = 0; c < g->columns; c++)
      g->at[r][c] = kernel_load_at(e, g->dtype, true, kept_at(e, k, r, c));
  return true;
}

void kernel_store_kept(kernel_emitter *e) {
  for (uint32_t i = 0; i < e->kept.count; i++) {
    const kernel_kept *k = &e->kept.at[i];
    if (k->phase != e->phase) continue;
    kernel_grid g = kernel_value(e, k->node->value, &k->node->result);
    for (int32_t r = 0; r < e->rows; r++)
      for (int32_t c = 0; c < e->vectors; c++) {
        const char *y = kernel_at(&g, r, c);
        if (!g.is_vector) y = kernel_splat(e, g.dtype, y);
        kernel_store_at(e, g.dtype, true, y, kept_at(e, k, r, c));
      }
  }
}

/* ---- tables: [column of the block, or row of the chunk][points] ---- */
typedef struct context { /* of the emitter, to make a table from anywhere */
  kernel_emitter saved;
  kernel_function function;
} context;

static void enter(kernel_emitter *e, context *c) {
  c->saved = *e;
  kernel_function_begin(e, &c->function);
  e->row = e->body = e->out;
  memset(&e->memos, 0, sizeof e->memos);
  memset(e->bound, 0, sizeof e->bound);
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (e->n->role[a] == KERNEL_OUTER) e->bound[a] = c->saved.bound[a];
  memset(e->is_constant, 0, sizeof e->is_constant);
  e->mask = NULL;
  e->in_tile = false;
  e->filling = true;
}

static void leave(kernel_emitter *e, context *c, kernel_level level, strbuf *caller) {
  kernel_function_end(e, &c->function, level, caller);
  e->row = c->saved.row;
  e->body = c->saved.body;
  e->memos = c->saved.memos;
  memcpy(e->bound, c->saved.bound, sizeof e->bound);
  memcpy(e->is_constant, c->saved.is_constant, sizeof e->is_constant);
  memcpy(e->row_index, c->saved.row_index, sizeof e->row_index);
  memcpy(e->row_local, c->saved.row_local, sizeof e->row_local);
  memcpy(e->depth, c->saved.depth, sizeof e->depth);
  e->rows = c->saved.rows;
  e->vectors = c->saved.vectors;
  e->column = c->saved.column;
  e->column_local = c->saved.column_local;
  e->mask = c->saved.mask;
  e->in_tile = c->saved.in_tile;
  e->filling = c->saved.filling;
}

static kernel_table *find_table(kernel_emitter *e, ir_value v, const kernel_axes *axes) {
  for (uint32_t i = 0; i < e->tables.count; i++) {
    kernel_table *t = &e->tables.at[i];
    if (t->value == v && t->axes.rank == axes->rank &&
        !memcmp(t->axes.of, axes->of, (size_t)axes->rank))
      return t;
  }
  return NULL;
}

static kernel_table *new_table(kernel_emitter *e, ir_value v, const kernel_axes *axes, int32_t axis,
                               int64_t entries) {
  ir_dtype dtype = ir_type_at(e->n->m, v)->dtype;
  kernel_table t = {.value = v, .axes = *axes, .axis = axis, .pass = -1};
  t.points = e->n->extent[axis];
  t.padded = padded_to_lanes(e->n, t.points);
  t.base = kernel_scratch(e, entries * t.padded * ir_dtype_bytes(dtype));
  VEC_PUSH(e->a, &e->tables, t);
  return &e->tables.at[e->tables.count - 1];
}

static const char *table_at(kernel_emitter *e, const kernel_table *t, const char *entry,
                            const char *point) {
  ir_dtype dtype = ir_type_at(e->n->m, t->value)->dtype;
  const char *first = kernel_settled(e, dtype, t->base, kernel_index(e, "0", entry, t->padded));
  return kernel_after(e, dtype, first, point);
}

static void clear_padding(kernel_emitter *e, const kernel_table *t, const char *entry) {
  ir_dtype dtype = ir_type_at(e->n->m, t->value)->dtype;
  for (int64_t i = t->points; i < t->padded; i++)
    kernel_store_at(e, dtype, false, kernel_number(e, dtype, 1, 0),
                    table_at(e, t, entry, kernel_int(e, i)));
}

/* A loop over the points of a table; what its value needs and they do not change is made before. */
static kernel_loop begin_points(kernel_emitter *e, const kernel_table *t) {
  const kernel_node *x = kernel_node_of(e->n, t->value);
  if (x && x->index < 0 && x->late < 0) kernel_hoist(e, x, t->axis);
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, t->points), "1");
  e->bound[t->axis] = l.index;
  return l;
}

static void fill_rows(kernel_emitter *e, const kernel_table *t) {
  context c;
  enter(e, &c);
  e->vectors = 1;
  kernel_loop row = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, row.index, 1);
  kernel_loop point = begin_points(e, t);
  kernel_grid g = kernel_value(e, t->value, &t->axes);
  kernel_store_at(e, g.dtype, false, kernel_at(&g, 0, 0), table_at(e, t, row.index, point.index));
  kernel_loop_end(e, &point);
  clear_padding(e, t, row.index);
  kernel_loop_end(e, &row);
  leave(e, &c, KERNEL_CHUNK, e->before);
}

static void store_lanes(kernel_emitter *e, const kernel_table *t, const kernel_grid *g,
                        const char *point) {
  int32_t lanes = e->n->lanes;
  const char *p = table_at(e, t, e->column_local, point), *y = kernel_at(g, 0, 0);
  if (!g->is_vector) y = kernel_splat(e, g->dtype, y);
  for (int32_t i = 0; i < lanes; i++) {
    const char *one =
        kernel_line(e, "extractelement %s %s, i64 %d", kernel_type(e, g->dtype, true), y, i);
    kernel_store_at(e, g->dtype, false, one,
                    kernel_line(e, "getelementptr %s, ptr %s, i64 %lld",
                                kernel_memory_type(g->dtype), p, (long long)(i * t->padded)));
  }
}

/* The lanes after the block's last column go to entries that nobody reads. */
static void fill_columns(kernel_emitter *e, const kernel_table *t) {
  context c;
  enter(e, &c);
  e->vectors = e->rows = 1;
  kernel_loop column = kernel_loop_begin(e, "0", e->block_columns, kernel_int(e, e->n->lanes));
  e->column_local = column.index;
  e->column = kernel_line(e, "add i64 %s, %s", e->block_begin, column.index);
  e->mask = kernel_tail_mask(e, column.index);
  kernel_loop point = begin_points(e, t);
  kernel_grid g = kernel_value(e, t->value, &t->axes);
  store_lanes(e, t, &g, point.index);
  kernel_loop_end(e, &point);
  kernel_loop_end(e, &column);
  if (t->points < t->padded) {
    kernel_loop l = kernel_loop_begin(e, "0", e->block_columns, "1");
    clear_padding(e, t, l.index);
    kernel_loop_end(e, &l);
  }
  leave(e, &c, KERNEL_BLOCK, e->pack);
}

/* A table of this pass, or of this pass's blocks. */
static const kernel_table *get_table(kernel_emitter *e, ir_value v, const kernel_axes *axes,
                                     int32_t axis, bool of_rows) {
  kernel_table *t = find_table(e, v, axes);
  if (!t) t = new_table(e, v, axes, axis, of_rows ? e->n->sizes.chunk : e->n->sizes.block);
  if (t->pass == e->pass) return t;
  t->pass = e->pass;
  kernel_table copy = *t; /* the values that fill it may need tables, too */
  if (of_rows) fill_rows(e, &copy);
  else fill_columns(e, &copy);
  return find_table(e, v, axes);
}

bool kernel_has_table(const kernel_nest *n, const kernel_node *x) {
  uint32_t points = kernel_point_axes(n, x->mask);
  if (x->depth || !points || points & (points - 1)) return false;
  bool costs = cost_weight(x) > 0 || x->reduces;
  return x->mask >> n->row & 1 && !(x->mask >> n->column & 1) && costs &&
         (x->index < 0 || x->n_terms) && kernel_extent_of(n, points) > COST_UNROLL;
}

static bool wants_table(const kernel_emitter *e, const kernel_node *x) {
  if (e->filling || !e->before || e->out == e->row || x->level > e->pass) return false;
  if (!kernel_has_table(e->n, x)) return false;
  int32_t axis = 31 - __builtin_clz(kernel_point_axes(e->n, x->mask));
  return e->bound[axis] && !e->is_constant[axis];
}

bool kernel_read_table(kernel_emitter *e, const kernel_node *x, kernel_grid *g) {
  if (!wants_table(e, x)) return false;
  int32_t axis = 31 - __builtin_clz(kernel_point_axes(e->n, x->mask));
  const kernel_table *t = get_table(e, x->value, &x->result, axis, true);
  for (int32_t r = 0; r < g->rows; r++) {
    const char *p = table_at(e, t, e->row_local[0], e->bound[axis]);
    g->at[r][0] = kernel_load_at(e, g->dtype, false,
                                 kernel_after(e, g->dtype, p, kernel_int(e, r * t->padded)));
  }
  return true;
}

/* ---- products ---- */
typedef struct product {
  const kernel_node *node;
  ir_dtype dtype;
  int64_t grid_along, grid_summed; /* strides of the grid: of the accumulators' rows, of the sum */
  int64_t apart;                   /* the stride of the other operand along the sum */
  int64_t points, padded;
  bool is_padded; /* the other operand, too */
  /* of this one: the arguments of the function that all with these numbers share */
  const char *grid, *other, *out, *along, *summed;
} product;

static const char *tail_of_points(kernel_emitter *e, int64_t lanes) {
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++)
    strbuf_printf(&b, "%si1 %d", i ? ", " : "<", i < lanes ? 1 : 0);
  strbuf_putc(&b, '>');
  return b.text;
}

/* Points from p on; count: of those that are left there. */
static const char *load_points(kernel_emitter *e, const product *p, const char *at, int64_t count) {
  if (p->is_padded || count >= e->n->lanes) return kernel_load_at(e, p->dtype, true, at);
  return kernel_load_masked(e, p->dtype, at, tail_of_points(e, count));
}

/* Element (r, v) of a block of accumulators that begins at `first`. */
static const char *out_at(kernel_emitter *e, const product *p, const char *first, int32_t r,
                          int32_t v) {
  return kernel_after(e, p->dtype, first, kernel_int(e, r * p->padded + (int64_t)v * e->n->lanes));
}

/* One step of the sum: rows x vectors multiply-adds. grid, other: where the operands begin. */
static void multiply_add(kernel_emitter *e, const product *p, int32_t rows, int32_t vectors,
                         const char *grid, const char *other, int64_t points,
                         const char *(*sums)[KERNEL_MOST_VECTORS]) {
  const char *type = kernel_type(e, p->dtype, true), *b[KERNEL_MOST_VECTORS];
  int32_t lanes = e->n->lanes;
  for (int32_t v = 0; v < vectors; v++)
    b[v] = load_points(e, p, kernel_after(e, p->dtype, other, kernel_int(e, (int64_t)v * lanes)),
                       points - (int64_t)v * lanes);
  for (int32_t r = 0; r < rows; r++) {
    const char *at = kernel_after(e, p->dtype, grid, kernel_int(e, r * p->grid_along));
    const char *g = kernel_splat(e, p->dtype, kernel_load_at(e, p->dtype, false, at));
    for (int32_t v = 0; v < vectors; v++) {
      const char *sum = kernel_line(e, "load %s, ptr %s", type, sums[r][v]);
      const char *term = kernel_line(e, "fmul contract %s %s, %s", type, g, b[v]);
      sum = kernel_combine(e, IR_OP_ADD, p->dtype, type, lanes, sum, term);
      kernel_put(e, "store %s %s, ptr %s", type, sum, sums[r][v]);
    }
  }
}

/* `rows` accumulator rows from i on, `vectors` vectors of points from `lane` on. */
static void emit_block_of(kernel_emitter *e, const product *p, int32_t rows, int32_t vectors,
                          const char *i, const char *lane, int64_t points) {
  const char *type = kernel_type(e, p->dtype, true), *sums[KERNEL_MOST_ROWS][KERNEL_MOST_VECTORS];
  const char *out = kernel_after(e, p->dtype, "%out", kernel_index(e, lane, i, p->padded));
  const char *grid = kernel_after(e, p->dtype, "%grid", kernel_index(e, "0", i, p->grid_along));
  const char *other = kernel_after(e, p->dtype, "%other", lane);
  for (int32_t r = 0; r < rows; r++)
    for (int32_t v = 0; v < vectors; v++) {
      sums[r][v] = kernel_name(e);
      strbuf_printf(&e->entry, "  %s = alloca %s, align 64\n", sums[r][v], type);
      const char *old = kernel_load_at(e, p->dtype, true, out_at(e, p, out, r, v));
      kernel_put(e, "store %s %s, ptr %s", type, old, sums[r][v]);
    }
  kernel_loop k = kernel_loop_begin(e, "0", "%summed", "1");
  grid = kernel_after(e, p->dtype, grid, kernel_index(e, "0", k.index, p->grid_summed));
  other = kernel_after(e, p->dtype, other, kernel_index(e, "0", k.index, p->apart));
  multiply_add(e, p, rows, vectors, grid, other, points, sums);
  kernel_loop_end(e, &k);
  for (int32_t r = 0; r < rows; r++)
    for (int32_t v = 0; v < vectors; v++) {
      const char *sum = kernel_line(e, "load %s, ptr %s", type, sums[r][v]);
      kernel_store_at(e, p->dtype, true, sum, out_at(e, p, out, r, v));
    }
}

static void for_rows_of_product(kernel_emitter *e, const product *p, int32_t vectors,
                                const char *lane, int64_t points) {
  int32_t rows = cost_product_rows(e->n);
  const char *odd = kernel_line(e, "urem i64 %%along, %d", rows);
  const char *whole = kernel_line(e, "sub i64 %%along, %s", odd);
  kernel_loop l = kernel_loop_begin(e, "0", whole, kernel_int(e, rows));
  emit_block_of(e, p, rows, vectors, l.index, lane, points);
  kernel_loop_end(e, &l);
  l = kernel_loop_begin(e, whole, "%along", "1");
  emit_block_of(e, p, 1, vectors, l.index, lane, points);
  kernel_loop_end(e, &l);
}

static void emit_product(kernel_emitter *e, const product *p) {
  int32_t lanes = e->n->lanes, step = 2 * lanes;
  int64_t done = 0, groups = p->points / step;
  if (groups >= TUNED_LOOPED_GROUPS) {
    done = groups * step;
    kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, done), kernel_int(e, step));
    for_rows_of_product(e, p, 2, l.index, step);
    kernel_loop_end(e, &l);
  }
  for (; done < p->points; done += step)
    for_rows_of_product(e, p, p->points - done > lanes ? 2 : 1, kernel_int(e, done),
                        p->points - done);
}

static const char *function_of(kernel_emitter *e, const product *p) {
  const char *name =
      arena_printf(e->a, "@%s_product_%s_%lld_%lld_%lld_%lld_%d", e->name,
                   kernel_dtype_text(p->dtype), (long long)p->points, (long long)p->grid_along,
                   (long long)p->grid_summed, (long long)p->apart, p->is_padded);
  if (!kernel_function_is_new(e, name)) return name;
  kernel_function f;
  kernel_function_begin(e, &f);
  emit_product(e, p);
  kernel_function_share(
      e, &f,
      arena_printf(e->a, "void %s(ptr %%grid, ptr %%other, ptr %%out, i64 %%along, i64 %%summed)",
                   name));
  return name;
}

/* Where the operand with points begins: in a table, or in the input itself. */
static const char *place_other(kernel_emitter *e, product *p, bool of_rows) {
  const kernel_nest *n = e->n;
  uint32_t operand = 1 - grid_operand(n, p->node);
  int32_t axis = kernel_product_axis(n, p->node);
  const kernel_axes *axes = &p->node->operands[operand];
  ir_value v = ir_operand(n->m, p->node->op, operand);
  bool in_table = kernel_node_of(n, v) || !has_unit_stride(n, p->node, operand, axis);
  p->is_padded = in_table || p->points == p->padded;
  if (in_table) {
    p->apart = p->padded;
    return table_at(e, get_table(e, v, axes, axis, of_rows), of_rows ? e->panel_begin : "0", "0");
  }
  int32_t input = kernel_input_of(n, v);
  const int64_t *dims = ir_type_at(n->m, ir_operand(n->m, n->loop, (uint32_t)input))->dims;
  const char *column = e->column, *row = e->row_index[0];
  p->apart = kernel_stride(dims, axes, of_rows ? n->row : n->column);
  if (of_rows) e->row_index[0] = kernel_index(e, "%row_begin", e->panel_begin, 1);
  else e->column = e->block_begin;
  const char *at = kernel_address(e, p->dtype, kernel_input_base(e, v), dims, axes, 0, 0);
  e->column = column;
  e->row_index[0] = row;
  return at;
}

static product product_of(kernel_emitter *e, const kernel_node *x) {
  const kernel_nest *n = e->n;
  bool of_rows = x->late >= 0;
  product p = {.node = x, .dtype = dtype_of(e, x)};
  int32_t axis = kernel_product_axis(n, x);
  p.grid = find_kept(e, grid_node(n, x))->base;
  p.grid_along = of_rows ? 1 : grid_stride(n);
  p.grid_summed = of_rows ? grid_stride(n) : 1;
  p.along = of_rows ? e->block_columns : e->panel_rows;
  p.summed = of_rows ? e->panel_rows : e->block_columns;
  p.points = n->extent[axis];
  p.padded = kernel_padded_points(n, x);
  const char *saved = e->row_local[0], *point = e->bound[axis];
  e->bound[axis] = "0";
  e->row_local[0] = e->panel_begin;
  p.other = place_other(e, &p, of_rows);
  p.out = of_rows ? kernel_late_at(e, x, e->block_begin) : kernel_reduction_at(e, x, 0);
  e->bound[axis] = point;
  e->row_local[0] = saved;
  return p;
}

void kernel_emit_products(kernel_emitter *e) {
  for (uint32_t k = 0; k < e->n->n_nodes; k++) {
    const kernel_node *x = &e->n->nodes[k];
    if (!x->is_product || x->pass != e->pass || x->phase != e->phase) continue;
    product p = product_of(e, x);
    kernel_put(e, "call void %s(ptr %s, ptr %s, ptr %s, i64 %s, i64 %s)", function_of(e, &p),
               p.grid, p.other, p.out, p.along, p.summed);
  }
}

/* Accumulators of the chunk's rows, padding too. */
void kernel_clear_product(kernel_emitter *e, const kernel_node *x) {
  ir_dtype dtype = dtype_of(e, x);
  int32_t axis = kernel_product_axis(e->n, x);
  const char *zero = kernel_splat(e, dtype, kernel_number(e, dtype, 1, 0));
  e->bound[axis] = "0";
  const char *base = kernel_reduction_at(e, x, 0);
  e->bound[axis] = NULL;
  for (int64_t i = 0; i < kernel_padded_points(e->n, x); i += e->n->lanes)
    kernel_store_at(e, dtype, true, zero,
                    kernel_line(e, "getelementptr %s, ptr %s, i64 %lld", kernel_memory_type(dtype),
                                base, (long long)i));
}

/* ---- running values ---- */
static bool same_terms(const kernel_node *a, const kernel_node *b) {
  return a->n_terms == b->n_terms &&
         !memcmp(a->terms, b->terms, (size_t)a->n_terms * sizeof *a->terms);
}

/* The first reduction with its terms, which has the places of the values that they had. */
static const kernel_node *leader_of(const kernel_nest *n, const kernel_node *x) {
  for (const kernel_node *y = n->nodes; y < x; y++)
    if (y->n_terms && y->pass == x->pass && y->phase == x->phase && same_terms(y, x)) return y;
  return x;
}

static const char *term_at(kernel_emitter *e, const kernel_node *x, int32_t term) {
  ir_dtype dtype = dtype_of(e, &e->n->nodes[x->terms[term].node]);
  const char *base = kernel_line(e, "getelementptr i8, ptr %%scratch, i64 %lld",
                                 (long long)e->term_offset[x->index * KERNEL_MOST_TERMS + term]);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s", kernel_memory_type(dtype), base,
                     e->row_local[0]);
}

void kernel_place_terms(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  e->term_offset = ARENA_ARRAY(e->a, int64_t, (size_t)(n->n_reductions + 1) * KERNEL_MOST_TERMS);
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    if (!x->n_terms || leader_of(n, x) != x) continue;
    for (int32_t i = 0; i < x->n_terms; i++) {
      e->term_offset[x->index * KERNEL_MOST_TERMS + i] = e->scratch_bytes;
      e->scratch_bytes += (n->sizes.chunk * 8 + 63) / 64 * 64;
    }
  }
}

void kernel_clear_terms(kernel_emitter *e) {
  for (uint32_t k = 0; k < e->n->n_nodes; k++) {
    const kernel_node *x = &e->n->nodes[k];
    if (!x->n_terms || x->pass != e->pass || leader_of(e->n, x) != x) continue;
    for (int32_t i = 0; i < x->n_terms; i++) {
      ir_dtype dtype = dtype_of(e, &e->n->nodes[x->terms[i].node]);
      kernel_store_at(e, dtype, false, kernel_number(e, dtype, 1, 0), term_at(e, x, i));
    }
  }
}

static const char *is_infinite(kernel_emitter *e, ir_dtype dtype, const char *x) {
  const char *type = kernel_type(e, dtype, false), *suffix = kernel_suffix(e, dtype, 1);
  kernel_declare(e, arena_printf(e->a, "declare %s @llvm.fabs.%s(%s)", type, suffix, type));
  const char *size = kernel_line(e, "call %s @llvm.fabs.%s(%s %s)", type, suffix, type, x);
  return kernel_line(e, "fcmp oeq %s %s, %s", type, size, kernel_real(e, dtype, (double)INFINITY));
}

const char *kernel_zero_for_infinite(kernel_emitter *e, ir_dtype dtype, const char *x) {
  const char *type = kernel_type(e, dtype, false), *infinite = is_infinite(e, dtype, x);
  return kernel_line(e, "select i1 %s, %s %s, %s %s", infinite, type, kernel_number(e, dtype, 1, 0),
                     type, x);
}

static kernel_grid term_grid(kernel_emitter *e, const kernel_node *x, int32_t term) {
  const kernel_node *t = &e->n->nodes[x->terms[term].node];
  return kernel_value(e, t->value, &t->result);
}

static const char *times_degree(kernel_emitter *e, ir_dtype dtype, const char *x, int32_t degree) {
  return kernel_line(e, "fmul %s %s, %s", kernel_type(e, dtype, false), x,
                     kernel_number(e, dtype, 1, degree));
}

typedef struct scaling {
  const char *ratio;
} scaling;

static void scale_number(kernel_emitter *e, const kernel_node *x, void *user) {
  const scaling *s = user;
  ir_dtype dtype = dtype_of(e, x);
  const char *type = kernel_type(e, dtype, x->is_product), *zero = kernel_number(e, dtype, 1, 0),
             *ratio = s->ratio, *p = kernel_reduction_at(e, x, 0);
  if (x->is_product) {
    zero = kernel_splat(e, dtype, zero);
    ratio = kernel_splat(e, dtype, ratio);
  }
  const char *y = kernel_load_at(e, dtype, x->is_product, p);
  const char *scaled = kernel_line(e, "fmul %s %s, %s", type, y, ratio);
  const char *is_zero = kernel_line(e, "fcmp oeq %s %s, %s", type, y, zero);
  y = kernel_line(e, "select %s %s, %s %s, %s %s", kernel_type(e, IR_I1, x->is_product), is_zero,
                  type, y, type, scaled);
  kernel_store_at(e, dtype, x->is_product, y, p);
}

static void scale_numbers(kernel_emitter *e, const kernel_node *x, scaling *s) {
  if (!x->is_product) {
    kernel_for_points(e, x, false, scale_number, s);
    return;
  }
  int32_t axis = kernel_product_axis(e->n, x);
  for (int64_t i = 0; i < kernel_padded_points(e->n, x); i += e->n->lanes) {
    e->bound[axis] = kernel_int(e, i);
    scale_number(e, x, s);
  }
  e->bound[axis] = NULL;
}

/* What was summed with the old values of the leader's terms, brought to the new ones. */
static void rescale(kernel_emitter *e, const kernel_node *leader) {
  const kernel_nest *n = e->n;
  ir_dtype dtype = dtype_of(e, leader);
  const char *type = kernel_type(e, dtype, false), *moved = NULL, *changed = NULL;
  const char *now[KERNEL_MOST_TERMS], *at[KERNEL_MOST_TERMS];
  for (int32_t i = 0; i < leader->n_terms; i++) {
    kernel_grid g = term_grid(e, leader, i);
    now[i] = kernel_at(&g, 0, 0);
    at[i] = term_at(e, leader, i);
    const char *old = kernel_load_at(e, dtype, false, at[i]);
    const char *differs = kernel_line(e, "fcmp une %s %s, %s", type, now[i], old);
    const char *by = kernel_line(e, "fsub %s %s, %s", type, now[i], old);
    by = times_degree(e, dtype, by, leader->terms[i].degree);
    changed = changed ? kernel_line(e, "or i1 %s, %s", changed, differs) : differs;
    moved = moved ? kernel_line(e, "fadd %s %s, %s", type, moved, by) : by;
  }
  uint32_t label = e->names++;
  kernel_put(e, "br i1 %s, label %%moved%u, label %%stays%u", changed, label, label);
  strbuf_printf(e->out, "moved%u:\n", label);
  scaling s = {kernel_emit_exp(e, dtype, 1, moved)};
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    if (x->n_terms && x->pass == e->pass && x->phase == e->phase && leader_of(n, x) == leader)
      scale_numbers(e, x, &s);
  }
  for (int32_t i = 0; i < leader->n_terms; i++) kernel_store_at(e, dtype, false, now[i], at[i]);
  kernel_put(e, "br label %%stays%u", label);
  strbuf_printf(e->out, "stays%u:\n", label);
  kernel_forget_since(e, label);
}

static bool has_terms(const kernel_emitter *e, const kernel_node *x) {
  return x->n_terms && x->pass == e->pass && x->phase == e->phase && leader_of(e->n, x) == x;
}

void kernel_rescale(kernel_emitter *e) {
  bool any = false;
  for (uint32_t k = 0; k < e->n->n_nodes; k++) any |= has_terms(e, &e->n->nodes[k]);
  if (!any) return;
  kernel_function f;
  kernel_function_begin(e, &f);
  const char *end = kernel_index(e, e->panel_begin, e->panel_rows, 1);
  kernel_loop l = kernel_loop_begin(e, e->panel_begin, end, "1");
  e->row = e->body = e->out;
  e->depth[1] = e->depth[0];
  e->vectors = 1;
  kernel_set_rows(e, l.index, 1);
  for (uint32_t k = 0; k < e->n->n_nodes; k++)
    if (has_terms(e, &e->n->nodes[k])) rescale(e, &e->n->nodes[k]);
  e->row = e->body = NULL;
  kernel_loop_end(e, &l);
  e->memos.count = 0;
  kernel_function_end(e, &f, KERNEL_PANEL, f.caller);
}

/* A finished sum as the program would have it where a term's value is infinite. */
const char *kernel_finish_sum(kernel_emitter *e, const kernel_node *x, int32_t r, const char *y) {
  ir_dtype dtype = dtype_of(e, x);
  const char *type = kernel_type(e, dtype, false);
  for (int32_t i = 0; i < x->n_terms; i++) {
    kernel_grid g = term_grid(e, x, i);
    const char *t = kernel_at(&g, r, 0), *infinite = is_infinite(e, dtype, t);
    const char *power = kernel_emit_exp(e, dtype, 1, times_degree(e, dtype, t, x->terms[i].degree));
    power = kernel_line(e, "fmul %s %s, %s", type, y, power);
    y = kernel_line(e, "select i1 %s, %s %s, %s %s", infinite, type, power, type, y);
  }
  return y;
}
