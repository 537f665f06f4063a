/* Grids that are kept, and products of them with rows of points. docs/design/emitter.md.
 *
 * In: a pass whose rows run in panels. A value with rows and columns that a later phase or a
 * product reads is kept for one panel and one block of columns, in the scratch: [row][column]. A
 * product is a register tile of its own: rows (of a sum over the columns) or columns (of a sum over
 * the rows) by vectors of points, which the other operand has side by side, in the input itself or
 * copied to a table: of the block's columns, or of the chunk's rows.
 */
#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/product.h"
#include "machine/tuned.h"

/* ---- which reductions are products ---- */
static bool is_grid(const kernel_nest *n, const kernel_node *x, uint32_t operand) {
  uint32_t mask = kernel_axes_mask(&x->operands[operand]);
  const kernel_node *from = kernel_node_of(n, ir_operand(n->m, x->op, operand));
  return from && from->kind != IR_OP_CONSTANT && from->kind != IR_OP_IOTA &&
         (mask & kernel_tile_axes(n)) == kernel_tile_axes(n) && !kernel_point_axes(n, mask);
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
  if ((mask & kernel_tile_axes(n)) != x->reduces || points != kernel_point_axes(n, x->mask))
    return false;
  if (from)
    return from->kind != IR_OP_CONSTANT && from->kind != IR_OP_IOTA &&
           (x->late >= 0 || from->is_rowless);
  return x->index >= 0 || has_unit_stride(n, x, operand, 31 - __builtin_clz(points));
}

bool kernel_is_product(const kernel_nest *n, const kernel_node *x) {
  uint32_t points = kernel_point_axes(n, x->mask);
  int64_t extent = kernel_extent_of(n, points);
  if (x->kind != IR_OP_DOT_GENERAL || !ir_is_real(ir_type_at(n->m, x->value)->dtype) ||
      __builtin_popcount(points) != 1 || extent <= COST_UNROLL || extent > COST_MOST_PRODUCT ||
      x->reduces != 1u << (x->index >= 0 ? n->column : n->row) ||
      (x->mask & kernel_tile_axes(n)) != (kernel_tile_axes(n) & ~x->reduces))
    return false;
  return (is_grid(n, x, 0) && has_points(n, x, 1)) || (is_grid(n, x, 1) && has_points(n, x, 0));
}

/* The operand of a product that is the grid. */
uint32_t kernel_grid_operand(const kernel_nest *n, const kernel_node *x) {
  return is_grid(n, x, 0) && has_points(n, x, 1) ? 0 : 1;
}

int32_t kernel_product_axis(const kernel_nest *n, const kernel_node *x) {
  CTX_CHECK(n->m->ctx, x->is_product && kernel_point_axes(n, x->mask));
  return 31 - __builtin_clz(kernel_point_axes(n, x->mask));
}

bool kernel_product_has_table(const kernel_nest *n, const kernel_node *x) {
  uint32_t operand = 1 - kernel_grid_operand(n, x);
  return kernel_node_of(n, ir_operand(n->m, x->op, operand)) ||
         !has_unit_stride(n, x, operand, kernel_product_axis(n, x));
}

int64_t kernel_padded_to_lanes(const kernel_nest *n, int64_t extent) {
  return (extent + n->lanes - 1) / n->lanes * n->lanes;
}

int64_t kernel_padded_points(const kernel_nest *n, const kernel_node *x) {
  int64_t points = kernel_extent_of(n, kernel_point_axes(n, x->mask));
  return x->is_product ? kernel_padded_to_lanes(n, points) : points;
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

const char *kernel_first_lanes(kernel_emitter *e, int64_t count) {
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++)
    strbuf_printf(&b, "%si1 %d", i ? ", " : "<", i < count ? 1 : 0);
  strbuf_putc(&b, '>');
  return b.text;
}

/* Points from p on; count: of those that are left there. */
static const char *load_points(kernel_emitter *e, const product *p, const char *at, int64_t count) {
  if (p->is_padded || count >= e->n->lanes) return kernel_load_at(e, p->dtype, true, at);
  return kernel_load_masked(e, p->dtype, at, kernel_first_lanes(e, count));
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
  if (groups) {
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
  uint32_t operand = 1 - kernel_grid_operand(n, p->node);
  int32_t axis = kernel_product_axis(n, p->node);
  const kernel_axes *axes = &p->node->operands[operand];
  ir_value v = ir_operand(n->m, p->node->op, operand);
  bool in_table = kernel_product_has_table(n, p->node);
  p->is_padded = in_table || p->points == p->padded;
  if (in_table) {
    p->apart = p->padded;
    return kernel_table_at(e, kernel_get_table(e, v, axes, axis, of_rows),
                           of_rows ? e->panel_begin : "0", "0");
  }
  int32_t input = kernel_input_of(n, v);
  const int64_t *dims = ir_type_at(n->m, ir_operand(n->m, n->loop, (uint32_t)input))->dims;
  const char *column = e->tile.column, *row = e->tile.row_index[0];
  p->apart = kernel_stride(dims, axes, of_rows ? n->row : n->column);
  if (of_rows) e->tile.row_index[0] = kernel_index(e, "%row_begin", e->panel_begin, 1);
  else e->tile.column = e->block_begin;
  const char *at = kernel_address(e, p->dtype, kernel_input_base(e, v), dims, axes, 0, 0);
  e->tile.column = column;
  e->tile.row_index[0] = row;
  return at;
}

static product product_of(kernel_emitter *e, const kernel_node *x) {
  const kernel_nest *n = e->n;
  bool of_rows = x->late >= 0;
  product p = {.node = x, .dtype = kernel_dtype_of(e, x)};
  int32_t axis = kernel_product_axis(n, x);
  p.grid = kernel_find_kept(e, kernel_grid_node(n, x))->base;
  p.grid_along = of_rows ? 1 : kernel_grid_stride(n);
  p.grid_summed = of_rows ? kernel_grid_stride(n) : 1;
  p.along = of_rows ? e->block_columns : e->panel_rows;
  p.summed = of_rows ? e->panel_rows : e->block_columns;
  p.points = n->extent[axis];
  p.padded = kernel_padded_points(n, x);
  const char *saved = e->tile.row_local[0], *point = e->tile.bound[axis];
  e->tile.bound[axis] = "0";
  e->tile.row_local[0] = e->panel_begin;
  p.other = place_other(e, &p, of_rows);
  p.out = of_rows ? kernel_late_at(e, x, e->block_begin) : kernel_reduction_at(e, x, 0);
  e->tile.bound[axis] = point;
  e->tile.row_local[0] = saved;
  return p;
}

void kernel_emit_products(kernel_emitter *e) {
  for (const kernel_node *x = e->n->nodes; x < e->n->nodes + e->n->n_nodes; x++) {
    if (!x->is_product || x->pass != e->pass || x->phase != e->phase) continue;
    product p = product_of(e, x);
    kernel_put(e, "call void %s(ptr %s, ptr %s, ptr %s, i64 %s, i64 %s)", function_of(e, &p),
               p.grid, p.other, p.out, p.along, p.summed);
  }
}

/* Accumulators of the chunk's rows, padding too. */
void kernel_clear_product(kernel_emitter *e, const kernel_node *x) {
  ir_dtype dtype = kernel_dtype_of(e, x);
  int32_t axis = kernel_product_axis(e->n, x);
  const char *zero = kernel_splat(e, dtype, kernel_number(e, dtype, 1, 0));
  e->tile.bound[axis] = "0";
  const char *base = kernel_reduction_at(e, x, 0);
  e->tile.bound[axis] = NULL;
  for (int64_t i = 0; i < kernel_padded_points(e->n, x); i += e->n->lanes)
    kernel_store_at(e, dtype, true, zero,
                    kernel_line(e, "getelementptr %s, ptr %s, i64 %lld", kernel_memory_type(dtype),
                                base, (long long)i));
}
