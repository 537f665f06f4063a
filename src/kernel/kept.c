/* Which grids a pass keeps, and where: see product.c. */
#include "kernel/product.h"

#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "machine/tuned.h"

const kernel_node *kernel_grid_node(const kernel_nest *n, const kernel_node *x) {
  return kernel_node_of(n, ir_operand(n->m, x->op, kernel_grid_operand(n, x)));
}

kernel_kept *kernel_find_kept(kernel_emitter *e, const kernel_node *x) {
  for (uint32_t i = 0; i < e->kept.count; i++)
    if (e->kept.at[i].node == x) return &e->kept.at[i];
  return NULL;
}

/* Vector operations of making the value again from inputs and row values, up to a few. */
static double effort(const kernel_nest *n, const kernel_node *x, int depth) {
  double sum = cost_weight(n, x);
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
  kernel_kept *k = kernel_find_kept(e, x);
  int32_t phase = kernel_phase_of(x, e->pass);
  if (!k) {
    VEC_PUSH(e->a, &e->kept, (kernel_kept){.node = x, .phase = phase});
    visit_operands(e, x, phase);
    k = kernel_find_kept(e, x);
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
  bool is_whole =
      (x->mask & kernel_tile_axes(n)) == kernel_tile_axes(n) && !kernel_point_axes(n, x->mask);
  if (is_whole && !x->depth && kernel_phase_of(x, e->pass) < phase &&
      effort(n, x, 24) > TUNED_HEAVY) {
    keep(e, x, 2 * phase);
    return;
  }
  kernel_kept *k = kernel_find_kept(e, x); /* read in the phase that makes it, and in another */
  if (k && kernel_phase_of(x, e->pass) == phase) return;
  visit_operands(e, x, phase);
}

/* Of rows: not a multiple of what the cache maps to one set. */
int64_t kernel_grid_stride(const kernel_nest *n) { return n->sizes.block + n->lanes; }

/* Whether the place of a kept grid is free when another is stored, at the end of its phase. */
static bool is_free_for(const kernel_emitter *e, const kernel_kept *old, const kernel_kept *k) {
  return old->phase < k->phase && old->last_use <= 2 * k->phase && !old->is_reused &&
         ir_dtype_bytes(kernel_dtype_of(e, old->node)) ==
             ir_dtype_bytes(kernel_dtype_of(e, k->node));
}

static void place_kept(kernel_emitter *e, kernel_kept *k) {
  CTX_CHECK(e->n->m->ctx, k->last_use > 2 * k->phase && !k->base); /* read once it is made */
  for (kernel_kept *old = e->kept.at; old < VEC_END(e->kept); old++) {
    if (!old->base || !is_free_for(e, old, k)) continue;
    old->is_reused = true;
    k->base = old->base;
    return;
  }
  k->base = kernel_scratch(
      e, e->panel * kernel_grid_stride(e->n) * ir_dtype_bytes(kernel_dtype_of(e, k->node)));
}

void kernel_plan_kept(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  e->kept.count = 0;
  memset(e->visited, 0, n->n_nodes * sizeof *e->visited);
  for (uint32_t k = 0; k < n->n_nodes && !e->finishes; k++) {
    const kernel_node *x = &n->nodes[k];
    if ((x->index < 0 && x->late < 0) || x->pass != e->pass) continue;
    if (x->is_product) keep(e, kernel_grid_node(n, x), 2 * x->phase + 1);
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
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if (x->packed == KERNEL_PACKED_ROWS) return true;
  return false;
}

/* Packed rows lie in groups of a tile, and no step reads from two. */
int32_t kernel_rows_of_phase(const kernel_emitter *e) {
  int32_t rows = e->n->sizes.rows, few = cost_exps_at_once(e->n) / e->n->sizes.vectors;
  if (few < 1) few = 1;
  if (!e->n->staged) return rows;
  while (few < rows && rows % few && packs_rows(e->n)) few--;
  for (uint32_t i = 0; i < e->kept.count; i++)
    if (e->kept.at[i].phase == e->phase && kernel_ends_phase(e->n, e->kept.at[i].node)) return rows;
  return few < rows ? few : rows;
}

static const char *kept_at(kernel_emitter *e, const kernel_kept *k, int32_t r, int32_t c) {
  ir_dtype dtype = kernel_dtype_of(e, k->node);
  const char *row = kernel_line(e, "sub i64 %s, %s", e->tile.row_local[0], e->panel_begin);
  const char *p =
      kernel_settled(e, dtype, k->base, kernel_index(e, "0", row, kernel_grid_stride(e->n)));
  p = kernel_after(e, dtype, p, e->tile.column_local);
  return kernel_after(e, dtype, p,
                      kernel_int(e, r * kernel_grid_stride(e->n) + (int64_t)c * e->n->lanes));
}

bool kernel_read_kept(kernel_emitter *e, const kernel_node *x, kernel_grid *g) {
  const kernel_kept *k = kernel_find_kept(e, x);
  if (!k || k->phase >= e->phase || !e->panel_begin) return false;
  for (int32_t r = 0; r < g->rows; r++)
    for (int32_t c = 0; c < g->columns; c++)
      g->at[r][c] = kernel_load_at(e, g->dtype, true, kept_at(e, k, r, c));
  return true;
}

void kernel_store_kept(kernel_emitter *e) {
  for (const kernel_kept *k = e->kept.at; k < VEC_END(e->kept); k++) {
    if (k->phase != e->phase) continue;
    kernel_grid g = kernel_value(e, k->node->value, &k->node->result);
    for (int32_t r = 0; r < e->tile.rows; r++)
      for (int32_t c = 0; c < e->tile.vectors; c++) {
        const char *y = kernel_widened(e, &g, r, c, true);
        kernel_store_at(e, g.dtype, true, y, kept_at(e, k, r, c));
      }
  }
}
