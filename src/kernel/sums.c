/* Sums inside the tile, and what the scratch has of reductions over columns and rows. */
#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/emit.h"

static kernel_grid product(kernel_emitter *e, const kernel_node *x) {
  kernel_grid l = kernel_operand(e, x, 0), r = kernel_operand(e, x, 1);
  kernel_grid g = {.dtype = l.dtype, .is_vector = l.is_vector || r.is_vector};
  g.rows = l.rows > r.rows ? l.rows : r.rows;
  g.columns = l.columns > r.columns ? l.columns : r.columns;
  bool real = ir_is_float(g.dtype);
  for (int32_t i = 0; i < g.rows; i++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[i][c] = kernel_line(
          e, "%s %s %s, %s", real ? "fmul contract" : "mul", kernel_type(e, g.dtype, g.is_vector),
          kernel_widened(e, &l, i, c, g.is_vector), kernel_widened(e, &r, i, c, g.is_vector));
  return g;
}

static kernel_grid term(kernel_emitter *e, const kernel_node *x) {
  return x->kind == IR_OP_DOT_GENERAL ? product(e, x) : kernel_operand(e, x, 0);
}

static void combine_grids(kernel_emitter *e, ir_kind monoid, kernel_grid *sum,
                          const kernel_grid *add) {
  const char *type = kernel_type(e, sum->dtype, sum->is_vector);
  for (int32_t r = 0; r < sum->rows; r++)
    for (int32_t c = 0; c < sum->columns; c++)
      sum->at[r][c] = kernel_combine(e, monoid, sum->dtype, type, kernel_lanes_of(e, sum),
                                     sum->at[r][c], kernel_widened(e, add, r, c, sum->is_vector));
}

static kernel_grid filled(kernel_emitter *e, const kernel_node *x, uint32_t mask) {
  ir_dtype dtype = kernel_dtype_of(e, x);
  kernel_grid g = kernel_new_grid(e, dtype, mask);
  const char *neutral = kernel_neutral(e, x->monoid, dtype);
  if (g.is_vector) neutral = kernel_splat(e, dtype, neutral);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++) g.at[r][c] = neutral;
  return g;
}

static kernel_grid sum_over(kernel_emitter *e, const kernel_node *x, uint32_t axes, uint32_t mask);

static kernel_grid unrolled(kernel_emitter *e, const kernel_node *x, int32_t axis, uint32_t rest,
                            uint32_t mask) {
  kernel_grid sum = filled(e, x, mask);
  for (int64_t i = 0; i < e->n->extent[axis]; i++) {
    e->tile.bound[axis] = kernel_int(e, i);
    kernel_grid add = sum_over(e, x, rest, mask);
    combine_grids(e, x->monoid, &sum, &add);
  }
  return sum;
}

static kernel_grid looped(kernel_emitter *e, const kernel_node *x, int32_t axis, uint32_t rest,
                          uint32_t mask) {
  kernel_grid sum = filled(e, x, mask), slots = sum;
  kernel_hoist(e, x, axis);
  kernel_make_slots(e, &slots, &sum);
  kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, e->n->extent[axis]), "1");
  e->tile.bound[axis] = l.index;
  e->tile.is_constant[axis] = false;
  kernel_grid add = sum_over(e, x, rest, mask);
  kernel_load_slots(e, &slots, &sum);
  combine_grids(e, x->monoid, &sum, &add);
  kernel_store_slots(e, &slots, &sum);
  kernel_loop_end(e, &l);
  kernel_load_slots(e, &slots, &sum);
  return sum;
}

/* The op's terms summed over axes that are not rows or columns. mask: axes of the sum. */
static kernel_grid sum_over(kernel_emitter *e, const kernel_node *x, uint32_t axes, uint32_t mask) {
  if (!axes) return term(e, x);
  int32_t axis = 31 - __builtin_clz(axes);
  const char *before = e->tile.bound[axis];
  bool was_constant = e->tile.is_constant[axis];
  e->tile.is_constant[axis] = true;
  uint32_t rest = axes & ~(1u << axis);
  kernel_grid g = e->n->extent[axis] <= COST_UNROLL ? unrolled(e, x, axis, rest, mask)
                                                    : looped(e, x, axis, rest, mask);
  e->tile.bound[axis] = before;
  e->tile.is_constant[axis] = was_constant;
  return g;
}

kernel_grid kernel_contribution(kernel_emitter *e, const kernel_node *x) {
  uint32_t tile = 1u << e->n->column | 1u << e->n->row;
  return sum_over(e, x, x->reduces & ~tile, (x->mask | x->reduces) & tile);
}

typedef struct bindings {
  const char *bound[KERNEL_MOST_AXES];
  bool is_constant[KERNEL_MOST_AXES];
} bindings;

static bindings bindings_of(const kernel_emitter *e) {
  bindings b;
  memcpy(b.bound, e->tile.bound, sizeof b.bound);
  memcpy(b.is_constant, e->tile.is_constant, sizeof b.is_constant);
  return b;
}

static void bind_again(kernel_emitter *e, const bindings *b) {
  memcpy(e->tile.bound, b->bound, sizeof b->bound);
  memcpy(e->tile.is_constant, b->is_constant, sizeof b->is_constant);
}

static void bind_term(kernel_emitter *e, uint32_t axes, int64_t number) {
  for (int32_t a = 0; a < e->n->n_axes; a++) {
    if (!(axes >> a & 1)) continue;
    e->tile.bound[a] = kernel_int(e, number % e->n->extent[a]);
    e->tile.is_constant[a] = true;
    number /= e->n->extent[a];
  }
}

/* x = other + dot or other - dot: the other one is the sum's first term. */
kernel_grid kernel_add_onto(kernel_emitter *e, const kernel_node *x, const kernel_node *dot,
                            uint32_t other) {
  kernel_grid start = kernel_operand(e, x, other), sum = kernel_new_grid(e, start.dtype, x->mask);
  const char *type = kernel_type(e, sum.dtype, sum.is_vector);
  const char *how = x->kind == IR_OP_ADD ? "fadd contract" : "fsub contract";
  bindings before_terms = bindings_of(e);
  for (int64_t i = 0; i < kernel_extent_of(e->n, dot->reduces); i++) {
    bind_term(e, dot->reduces, i);
    kernel_grid add = term(e, dot);
    for (int32_t r = 0; r < sum.rows; r++)
      for (int32_t c = 0; c < sum.columns; c++) {
        const char *before = i ? sum.at[r][c] : kernel_widened(e, &start, r, c, sum.is_vector);
        sum.at[r][c] = kernel_line(e, "%s %s %s, %s", how, type, before,
                                   kernel_widened(e, &add, r, c, sum.is_vector));
      }
  }
  bind_again(e, &before_terms);
  return sum;
}

/* The sum with the reduction's initial value. */
static kernel_grid with_start(kernel_emitter *e, const kernel_node *x, kernel_grid g) {
  if (x->kind != IR_OP_REDUCE || kernel_is_variadic(x)) return g;
  kernel_grid start = kernel_operand(e, x, 1);
  const char *type = kernel_type(e, g.dtype, g.is_vector);
  for (int32_t r = 0; r < g.rows; r++)
    for (int32_t c = 0; c < g.columns; c++)
      g.at[r][c] = kernel_combine(e, x->monoid, g.dtype, type, kernel_lanes_of(e, &g),
                                  kernel_widened(e, &start, 0, 0, g.is_vector), g.at[r][c]);
  return g;
}

kernel_grid kernel_inner_sum(kernel_emitter *e, const kernel_node *x) {
  return with_start(e, x, sum_over(e, x, x->reduces, x->mask));
}

/* ---- results of tile reductions, from the scratch ---- */
const char *kernel_point_number(kernel_emitter *e, uint32_t mask, const char *at) {
  uint32_t points = kernel_point_axes(e->n, mask);
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (points >> a & 1)
      at = kernel_index(e, kernel_index(e, "0", at, e->n->extent[a]), e->tile.bound[a], 1);
  return at;
}

const char *kernel_reduction_at(kernel_emitter *e, const kernel_node *x, int32_t r) {
  const char *at = kernel_point_number(e, x->mask, "0");
  int64_t stride = x->is_product ? kernel_padded_points(e->n, x) : 1;
  at = kernel_index(e, kernel_index(e, "0", at, x->is_product ? 1 : e->n->sizes.chunk),
                    e->tile.row_local[0], stride);
  ir_dtype dtype = kernel_dtype_of(e, x);
  const char *base = kernel_line(e, "getelementptr i8, ptr %s, i64 %lld", e->numbers,
                                 (long long)e->reduction_offset[x->index]);
  return kernel_after(e, dtype, kernel_after(e, dtype, base, at), kernel_int(e, r * stride));
}

kernel_grid kernel_read_reduction(kernel_emitter *e, const kernel_node *x) {
  kernel_grid g = kernel_new_grid(e, kernel_dtype_of(e, x), 1u << e->n->row);
  for (int32_t r = 0; r < g.rows; r++) {
    g.at[r][0] = kernel_load_at(e, g.dtype, false, kernel_reduction_at(e, x, r));
    if (x->n_terms) g.at[r][0] = kernel_finish_sum(e, x, r, g.at[r][0]);
  }
  return with_start(e, x, g);
}

/* ---- results of reductions over rows ---- */
int64_t kernel_late_width(const kernel_nest *n, const kernel_node *x) {
  int64_t lanes = n->lanes, columns = n->extent[n->column];
  if (x->mask >> n->column & 1) return (columns + lanes - 1) / lanes * lanes;
  return x->reduces >> n->column & 1 ? lanes : 1;
}

const char *kernel_late_at(kernel_emitter *e, const kernel_node *x, const char *offset) {
  const char *at = kernel_index(e, "0", e->slot, 1);
  if (!x->is_product) at = kernel_point_number(e, x->mask, at);
  at = kernel_index(e, kernel_index(e, "0", at, kernel_late_width(e->n, x)), offset, 1);
  if (x->is_product) /* [column][point] */
    at = kernel_index(e, kernel_index(e, "0", at, kernel_padded_points(e->n, x)),
                      e->tile.bound[kernel_product_axis(e->n, x)], 1);
  ir_dtype dtype = kernel_dtype_of(e, x);
  const char *base = kernel_line(e, "getelementptr i8, ptr %%shared, i64 %lld",
                                 (long long)e->late_offset[x->late]);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s", kernel_memory_type(dtype), base, at);
}

const char *kernel_across_lanes(kernel_emitter *e, ir_kind monoid, ir_dtype dtype,
                                const char *vector) {
  const char *one = kernel_dtype_text(dtype);
  for (int32_t lanes = e->n->lanes; lanes > 2; lanes /= 2) {
    const char *type = arena_printf(e->a, "<%d x %s>", lanes, one), *half[2];
    for (int32_t side = 0; side < 2; side++) {
      strbuf b = strbuf_make(e->a);
      for (int32_t i = 0; i < lanes / 2; i++)
        strbuf_printf(&b, "%si32 %d", i ? ", " : "", side * (lanes / 2) + i);
      half[side] = kernel_line(e, "shufflevector %s %s, %s poison, <%d x i32> <%s>", type, vector,
                               type, lanes / 2, b.text);
    }
    vector = kernel_combine(e, monoid, dtype, arena_printf(e->a, "<%d x %s>", lanes / 2, one),
                            lanes / 2, half[0], half[1]);
  }
  const char *pair = arena_printf(e->a, "<2 x %s>", one);
  const char *x = kernel_line(e, "extractelement %s %s, i64 0", pair, vector),
             *y = kernel_line(e, "extractelement %s %s, i64 1", pair, vector);
  return kernel_combine(e, monoid, dtype, one, 1, x, y);
}

kernel_grid kernel_read_late(kernel_emitter *e, const kernel_node *x) {
  kernel_grid g = kernel_new_grid(e, kernel_dtype_of(e, x), x->mask);
  bool in_lanes = !g.is_vector && kernel_late_width(e->n, x) > 1;
  for (int32_t c = 0; c < g.columns; c++) {
    const char *at =
        g.is_vector ? kernel_index(e, e->tile.column, kernel_int(e, (int64_t)c * e->n->lanes), 1)
                    : "0";
    const char *p = kernel_late_at(e, x, at);
    const char *y = x->is_product && g.is_vector
                        ? kernel_load_strided(e, g.dtype, p, kernel_padded_points(e->n, x))
                        : kernel_load_at(e, g.dtype, g.is_vector || in_lanes, p);
    g.at[0][c] = in_lanes ? kernel_across_lanes(e, x->monoid, g.dtype, y) : y;
  }
  return with_start(e, x, g);
}
