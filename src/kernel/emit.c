/* The loops around a tile: work item, passes, blocks of columns, rows, columns.
 * docs/design/emitter.md.
 *
 *   for each pass            numbers of its reductions in the scratch: neutral
 *     for each block         pack
 *       for each panel       all rows, or few where grids are kept (product.c)
 *         for each phase     sums brought to the running statistics of the phases before
 *           for rows, `rows` at a time, then one at a time
 *             accumulators neutral; row-only values
 *             for columns, `vectors` vectors at a time, then one masked: the tile
 *             accumulators folded into the scratch
 *           products of kept grids
 *   for each row             results without columns
 *
 * What a panel runs for a phase, a product, a copy: each is a function (function.c).
 */
#include "kernel/emit.h"

#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/lists.h"
#include "kernel/llvm.h"

typedef struct accumulator { /* of one tile reduction while a block runs: [point][row] vectors */
  const kernel_node *node;
  const char *base;
} accumulator;

typedef struct kernel_pass {
  uint32_t n;
  accumulator *at;
} kernel_pass;

static ir_dtype dtype_of(const kernel_emitter *e, const kernel_node *x) {
  return ir_type_at(e->n->m, x->value)->dtype;
}

/* ---- points ---- */
/* The one that most operands have: what does not have the others is made before their loops. */
static int32_t outermost(const kernel_node *x, uint32_t axes) {
  int32_t best = -1, most = -1;
  for (int32_t a = 31; a >= 0; a--) {
    if (!(axes >> a & 1)) continue;
    int32_t count = 0;
    for (uint32_t i = 0; i < x->n_operands; i++)
      for (int32_t d = 0; d < x->operands[i].rank; d++) count += x->operands[i].of[d] == a;
    if (count > most) best = a, most = count;
  }
  return best;
}

static void for_points(kernel_emitter *e, const kernel_node *x, uint32_t axes, bool hoists,
                       kernel_point_fn *fn, void *user) {
  if (!axes) {
    fn(e, x, user);
    return;
  }
  int32_t axis = outermost(x, axes);
  uint32_t rest = axes & ~(1u << axis);
  int64_t extent = e->n->extent[axis];
  if (kernel_extent_of(e->n, kernel_point_axes(e->n, x->mask)) <= COST_UNROLL) {
    e->is_constant[axis] = true;
    for (int64_t i = 0; i < extent; i++) {
      e->bound[axis] = kernel_int(e, i);
      for_points(e, x, rest, hoists, fn, user);
    }
  } else {
    if (hoists) kernel_hoist(e, x, axis);
    kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, extent), "1");
    e->bound[axis] = l.index;
    for_points(e, x, rest, hoists, fn, user);
    kernel_loop_end(e, &l);
  }
  e->bound[axis] = NULL;
  e->is_constant[axis] = false;
}

static void for_all_points(kernel_emitter *e, const kernel_node *x, bool hoists,
                           kernel_point_fn *fn, void *user) {
  for_points(e, x, kernel_point_axes(e->n, x->mask), hoists, fn, user);
}

void kernel_for_all_points(kernel_emitter *e, const kernel_node *x, kernel_point_fn *fn,
                           void *user) {
  for_all_points(e, x, false, fn, user);
}

/* ---- accumulators ---- */
static bool is_top_k(const kernel_node *x) { return x->kind == IR_OP_CHLO_TOP_K; }

static const char *accumulator_at(kernel_emitter *e, const accumulator *acc, int32_t r) {
  const char *at = "0";
  for (int32_t a = 0; a < e->n->n_axes; a++)
    if (kernel_point_axes(e->n, acc->node->mask) >> a & 1)
      at = kernel_index(e, kernel_index(e, "0", at, e->n->extent[a]), e->bound[a], 1);
  at = kernel_index(e, kernel_index(e, "0", at, e->rows), kernel_int(e, r), 1);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s",
                     kernel_type(e, dtype_of(e, acc->node), true), acc->base, at);
}

static const char *neutral_of(kernel_emitter *e, const kernel_node *x) {
  return kernel_is_variadic(x) ? kernel_variadic_neutral(e, x)
                               : kernel_neutral(e, x->monoid, dtype_of(e, x));
}

static void clear_point(kernel_emitter *e, const kernel_node *x, void *user) {
  ir_dtype dtype = dtype_of(e, x);
  const char *neutral = kernel_splat(e, dtype, neutral_of(e, x));
  for (int32_t r = 0; r < e->rows; r++)
    kernel_put(e, "store %s %s, ptr %s", kernel_type(e, dtype, true), neutral,
               accumulator_at(e, user, r));
}

static void make_accumulators(kernel_emitter *e, kernel_pass *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (is_top_k(x)) continue;
    p->at[i].base = kernel_name(e);
    strbuf_printf(&e->entry, "  %s = alloca [%lld x %s], align 64\n", p->at[i].base,
                  (long long)(kernel_extent_of(e->n, kernel_point_axes(e->n, x->mask)) * e->rows),
                  kernel_type(e, dtype_of(e, x), true));
    for_all_points(e, x, false, clear_point, &p->at[i]);
  }
}

static const char *masked_term(kernel_emitter *e, const kernel_node *x, const char *type,
                               const char *term) {
  if (!e->mask) return term;
  ir_dtype dtype = dtype_of(e, x);
  const char *neutral = kernel_splat(e, dtype, neutral_of(e, x));
  return kernel_line(e, "select <%d x i1> %s, %s %s, %s %s", e->n->lanes, e->mask, type, term, type,
                     neutral);
}

static void accumulate_point(kernel_emitter *e, const kernel_node *x, void *user) {
  kernel_grid g = kernel_contribution(e, x);
  const char *type = kernel_type(e, g.dtype, true);
  for (int32_t r = 0; r < e->rows; r++) {
    const char *slot = accumulator_at(e, user, r),
               *sum = kernel_line(e, "load %s, ptr %s", type, slot);
    for (int32_t c = 0; c < e->vectors; c++) {
      const char *term = kernel_at(&g, r, c);
      if (!g.is_vector) term = kernel_splat(e, g.dtype, term);
      sum =
          kernel_combine_term(e, x, g.dtype, type, e->n->lanes, sum, masked_term(e, x, type, term));
    }
    kernel_put(e, "store %s %s, ptr %s", type, sum, slot);
  }
}

/* All results of the op at once: user is the first one's accumulator, the others follow. */
static void accumulate_joint(kernel_emitter *e, const kernel_node *x, void *user) {
  const accumulator *acc = user;
  uint32_t n = ir_op_get(e->n->m, x->op)->n_results;
  kernel_grid terms[KERNEL_MOST_OPERANDS];
  for (uint32_t i = 0; i < n; i++) terms[i] = kernel_operand(e, x, i);
  for (int32_t r = 0; r < e->rows; r++) {
    const char *sums[KERNEL_MOST_OPERANDS], *add[KERNEL_MOST_OPERANDS],
        *slots[KERNEL_MOST_OPERANDS];
    for (uint32_t i = 0; i < n; i++) {
      slots[i] = accumulator_at(e, &acc[i], r);
      sums[i] = kernel_line(e, "load %s, ptr %s", kernel_type(e, terms[i].dtype, true), slots[i]);
    }
    for (int32_t c = 0; c < e->vectors; c++) {
      for (uint32_t i = 0; i < n; i++) {
        add[i] = kernel_at(&terms[i], r, c);
        if (!terms[i].is_vector) add[i] = kernel_splat(e, terms[i].dtype, add[i]);
        add[i] = masked_term(e, &x[i], kernel_type(e, terms[i].dtype, true), add[i]);
      }
      kernel_variadic_combine(e, x, e->n->lanes, sums, add);
    }
    for (uint32_t i = 0; i < n; i++)
      kernel_put(e, "store %s %s, ptr %s", kernel_type(e, terms[i].dtype, true), sums[i], slots[i]);
  }
}

static void store_number(kernel_emitter *e, const kernel_node *x, int32_t r, const char *number) {
  kernel_store_at(e, dtype_of(e, x), false, number, kernel_reduction_at(e, x, r));
}

static void fold_point(kernel_emitter *e, const kernel_node *x, void *user) {
  ir_dtype dtype = dtype_of(e, x);
  for (int32_t r = 0; r < e->rows; r++) {
    const char *sum =
        kernel_line(e, "load %s, ptr %s", kernel_type(e, dtype, true), accumulator_at(e, user, r));
    const char *old = kernel_load_at(e, dtype, false, kernel_reduction_at(e, x, r));
    sum = kernel_across_lanes(e, x->monoid, dtype, sum);
    store_number(e, x, r,
                 kernel_combine(e, x->monoid, dtype, kernel_dtype_text(dtype), 1, old, sum));
  }
}

static void fold_joint(kernel_emitter *e, const kernel_node *x, void *user) {
  const accumulator *acc = user;
  uint32_t n = ir_op_get(e->n->m, x->op)->n_results;
  for (int32_t r = 0; r < e->rows; r++) {
    const char *sums[KERNEL_MOST_OPERANDS], *old[KERNEL_MOST_OPERANDS];
    for (uint32_t i = 0; i < n; i++) {
      ir_dtype dtype = dtype_of(e, &x[i]);
      sums[i] = kernel_line(e, "load %s, ptr %s", kernel_type(e, dtype, true),
                            accumulator_at(e, &acc[i], r));
      old[i] = kernel_load_at(e, dtype, false, kernel_reduction_at(e, &x[i], r));
    }
    kernel_variadic_across_lanes(e, x, sums);
    kernel_variadic_combine(e, x, 1, old, sums);
    for (uint32_t i = 0; i < n; i++) store_number(e, &x[i], r, old[i]);
  }
}

static void neutral_point(kernel_emitter *e, const kernel_node *x, void *user) {
  (void)user;
  store_number(e, x, 0, neutral_of(e, x));
}

/* ---- reductions over rows ---- */
/* The rows of the tile by themselves: what is added to a partial result is a sum already, which
 * loses less than term after term. */
static const char *sum_of_rows(kernel_emitter *e, const kernel_node *x, const kernel_grid *g,
                               int32_t c, bool is_vector) {
  const char *type = kernel_type(e, g->dtype, is_vector), *sum = NULL;
  for (int32_t r = 0; r < e->rows; r++) {
    const char *term = kernel_at(g, r, c);
    if (is_vector && !g->is_vector) term = kernel_splat(e, g->dtype, term);
    if (is_vector) term = masked_term(e, x, type, term);
    int32_t lanes = is_vector ? e->n->lanes : 1;
    sum = sum ? kernel_combine_term(e, x, g->dtype, type, lanes, sum, term) : term;
  }
  return sum;
}

static void add_to_slot(kernel_emitter *e, const kernel_node *x, const char *offset, ir_dtype dtype,
                        bool is_vector, const char *sum) {
  const char *slot = kernel_late_at(e, x, offset), *type = kernel_type(e, dtype, is_vector);
  const char *old = kernel_load_at(e, dtype, is_vector, slot);
  sum = kernel_combine(e, x->monoid, dtype, type, is_vector ? e->n->lanes : 1, old, sum);
  kernel_store_at(e, dtype, is_vector, sum, slot);
}

static void late_point(kernel_emitter *e, const kernel_node *x, void *user) {
  (void)user;
  kernel_grid g = kernel_contribution(e, x);
  bool has_column = (x->mask | x->reduces) >> e->n->column & 1,
       keeps_column = x->mask >> e->n->column & 1;
  const char *type = kernel_type(e, g.dtype, has_column), *all = NULL;
  for (int32_t c = 0; c < (has_column ? e->vectors : 1); c++) {
    const char *sum = sum_of_rows(e, x, &g, c, has_column);
    const char *at = kernel_index(e, e->column, kernel_int(e, (int64_t)c * e->n->lanes), 1);
    if (keeps_column) add_to_slot(e, x, at, g.dtype, true, sum);
    else all = all ? kernel_combine(e, x->monoid, g.dtype, type, e->n->lanes, all, sum) : sum;
  }
  if (!keeps_column) add_to_slot(e, x, "0", g.dtype, has_column, all);
}

static void add_late(kernel_emitter *e, bool with_columns) {
  for (uint32_t k = 0; k < e->n->n_nodes; k++) {
    const kernel_node *x = &e->n->nodes[k];
    bool has_column = (x->mask | x->reduces) >> e->n->column & 1;
    if (x->late < 0 || x->is_product || has_column != with_columns) continue;
    if (has_column && (x->pass != e->pass || x->phase != e->phase)) continue;
    for_all_points(e, x, true, late_point, NULL);
  }
}

/* All partial results of a slot, one after the other: fn gets the address in this slot. */
typedef void late_fn(kernel_emitter *e, const kernel_node *x, const char *at);

static void for_each_late(kernel_emitter *e, late_fn *fn) {
  for (uint32_t k = 0; k < e->n->n_nodes; k++) {
    const kernel_node *x = &e->n->nodes[k];
    if (x->late < 0) continue;
    int64_t count = kernel_late_width(e->n, x) * kernel_padded_points(e->n, x);
    const char *one = kernel_memory_type(dtype_of(e, x));
    const char *base = kernel_line(e, "getelementptr i8, ptr %%shared, i64 %lld",
                                   (long long)e->late_offset[x->late]);
    kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, count), "1");
    const char *at = kernel_index(e, l.index, e->slot, count);
    fn(e, x, kernel_line(e, "getelementptr %s, ptr %s, i64 %s", one, base, at));
    kernel_loop_end(e, &l);
  }
}

static void clear_late(kernel_emitter *e, const kernel_node *x, const char *at) {
  ir_dtype dtype = dtype_of(e, x);
  kernel_store_at(e, dtype, false, kernel_neutral(e, x->monoid, dtype), at);
}

/* The slots that follow, added to the first. */
static void merge_late(kernel_emitter *e, const kernel_node *x, const char *at) {
  ir_dtype dtype = dtype_of(e, x);
  int64_t count = kernel_late_width(e->n, x) * kernel_padded_points(e->n, x);
  const char *sum = kernel_load_at(e, dtype, false, at);
  for (int64_t s = 1; s < e->n->sizes.spans; s++) {
    const char *p = kernel_line(e, "getelementptr %s, ptr %s, i64 %lld", kernel_memory_type(dtype),
                                at, (long long)(s * count));
    const char *more = kernel_load_at(e, dtype, false, p);
    sum = kernel_combine(e, x->monoid, dtype, kernel_dtype_text(dtype), 1, sum, more);
  }
  kernel_store_at(e, dtype, false, sum, at);
}

/* ---- results ---- */
static void store_vector(kernel_emitter *e, ir_dtype dtype, const char *p, int64_t stride,
                         const char *x) {
  const char *one = kernel_memory_type(dtype),
             *type = arena_printf(e->a, "<%d x %s>", e->n->lanes, one);
  const char *suffix = dtype == IR_I1 ? arena_printf(e->a, "v%di8", e->n->lanes)
                                      : kernel_suffix(e, dtype, e->n->lanes);
  long long align = (long long)ir_dtype_bytes(dtype);
  int32_t lanes = e->n->lanes;
  if (dtype == IR_I1) x = kernel_line(e, "zext <%d x i1> %s to %s", lanes, x, type);
  if (stride == 1 && !e->mask) {
    kernel_put(e, "store %s %s, ptr %s, align %lld", type, x, p, align);
    return;
  }
  const char *mask = e->mask ? e->mask : kernel_number(e, IR_I1, lanes, -1);
  bool scatters = stride != 1;
  const char *name = scatters ? arena_printf(e->a, "@llvm.masked.scatter.%s.v%dp0", suffix, lanes)
                              : arena_printf(e->a, "@llvm.masked.store.%s.p0", suffix);
  const char *pointer = scatters ? arena_printf(e->a, "<%d x ptr>", lanes) : "ptr";
  if (scatters) p = kernel_lane_pointers(e, dtype, p, stride);
  kernel_declare(
      e, arena_printf(e->a, "declare void %s(%s, %s, i32, <%d x i1>)", name, type, pointer, lanes));
  kernel_put(e, "call void %s(%s %s, %s %s, i32 %lld, <%d x i1> %s)", name, type, x, pointer, p,
             align, lanes, mask);
}

static void store_point(kernel_emitter *e, const kernel_node *x, void *user) {
  const kernel_output *o = user;
  const char *out = arena_printf(e->a, "%%out%lld", (long long)(o - e->n->outputs));
  kernel_grid g = kernel_value(e, o->value, &o->axes);
  bool has_row = x->mask >> e->n->row & 1, has_column = x->mask >> e->n->column & 1;
  for (int32_t r = 0; r < (has_row ? e->rows : 1); r++)
    for (int32_t c = 0; c < (has_column ? e->vectors : 1); c++) {
      const char *p = kernel_address(e, g.dtype, out, o->dims, &o->axes, r, c),
                 *y = kernel_at(&g, r, c);
      if (has_column) {
        if (!g.is_vector) y = kernel_splat(e, g.dtype, y);
        store_vector(e, g.dtype, p, kernel_stride(o->dims, &o->axes, e->n->column), y);
        continue;
      }
      kernel_store_at(e, g.dtype, false, y, p);
    }
}

static void store_outputs(kernel_emitter *e, bool with_columns) {
  for (uint32_t j = 0; j < e->n->n_outputs; j++) {
    kernel_output *o = &e->n->outputs[j];
    const kernel_node *x = &e->n->nodes[o->node];
    bool has_column = x->mask >> e->n->column & 1;
    if (o->after != e->finishes || has_column != with_columns) continue;
    if (has_column && !o->after && (o->level != e->pass || o->phase != e->phase)) continue;
    for_all_points(e, x, x->index < 0 && x->late < 0, store_point, o);
  }
}

/* ---- the tile ---- */
static void set_columns(kernel_emitter *e, const kernel_loop *l) {
  e->column_local = l->index;
  e->column = kernel_line(e, "add i64 %s, %s", e->block_begin, l->index);
}

static void emit_tile(kernel_emitter *e, void *user) {
  kernel_pass *p = user;
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (x->which) continue;
    if (is_top_k(x)) kernel_topk_add(e, x);
    else
      for_all_points(e, x, true, kernel_is_variadic(x) ? accumulate_joint : accumulate_point,
                     &p->at[i]);
  }
  if (!e->finishes) add_late(e, true);
  store_outputs(e, true);
  if (!e->finishes) kernel_store_kept(e);
}

const char *kernel_tail_mask(kernel_emitter *e, const char *column_local) {
  const char *left = kernel_line(e, "sub i64 %s, %s", e->block_columns, column_local);
  strbuf b = strbuf_make(e->a);
  for (int32_t i = 0; i < e->n->lanes; i++) strbuf_printf(&b, "%si64 %d", i ? ", " : "<", i);
  strbuf_putc(&b, '>');
  return kernel_line(e, "icmp ugt %s %s, %s", kernel_type(e, IR_I64, true),
                     kernel_splat(e, IR_I64, left), b.text);
}

/* Whether there may be rows of a chunk or panel beside groups of so many; if not, nothing is
 * emitted for them. */
static bool has_odd_rows(const kernel_emitter *e, int32_t rows) {
  const kernel_nest *n = e->n;
  return n->extent[n->row] % rows || n->sizes.chunk % rows || e->panel % rows;
}

/* Whether there may be columns beside whole tiles. Blocks are whole tiles. */
static bool has_odd_columns(const kernel_emitter *e) {
  const kernel_nest *n = e->n;
  return n->extent[n->column] % ((int64_t)n->sizes.vectors * n->lanes);
}

void kernel_for_columns(kernel_emitter *e, void (*emit)(kernel_emitter *, void *), void *user) {
  e->vectors = e->n->sizes.vectors;
  e->mask = NULL;
  kernel_loop l =
      kernel_loop_begin(e, "0", e->block_main, kernel_int(e, (int64_t)e->vectors * e->n->lanes));
  set_columns(e, &l);
  emit(e, user);
  kernel_loop_end(e, &l);
  if (!has_odd_columns(e)) return;
  e->vectors = 1;
  l = kernel_loop_begin(e, e->block_main, e->block_columns, kernel_int(e, e->n->lanes));
  set_columns(e, &l);
  e->mask = kernel_tail_mask(e, l.index);
  emit(e, user);
  e->mask = NULL;
  kernel_loop_end(e, &l);
}

void kernel_set_rows(kernel_emitter *e, const char *local, int32_t rows) {
  e->rows = rows;
  e->memos.count = 0;
  for (int32_t r = 0; r < rows; r++) {
    e->row_local[r] = kernel_index(e, local, kernel_int(e, r), 1);
    e->row_index[r] = kernel_line(e, "add i64 %%row_begin, %s", e->row_local[r]);
  }
}

const char *kernel_group_of(kernel_emitter *e, const char *local) {
  const char *in = kernel_line(e, "urem i64 %s, %d", local, e->n->sizes.rows);
  return kernel_line(e, "sub i64 %s, %s", local, in);
}

static void emit_rows(kernel_emitter *e, kernel_pass *p, int32_t rows, const char *from,
                      const char *to) {
  strbuf row = strbuf_make(e->a), body = strbuf_make(e->a), *outer = e->out;
  kernel_loop l = kernel_loop_begin(e, from, to, kernel_int(e, rows));
  kernel_set_rows(e, l.index, rows);
  e->group = rows < e->n->sizes.rows ? kernel_group_of(e, l.index) : NULL;
  make_accumulators(e, p);
  e->row = &row;
  e->body = e->out = &body;
  e->in_tile = true;
  kernel_for_columns(e, emit_tile, p);
  e->in_tile = false;
  e->out = outer;
  e->row = e->body = NULL;
  strbuf_add(outer, row.text ? row.text : "", row.length);
  strbuf_add(outer, body.text, body.length);
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (!x->which && !is_top_k(x))
      for_all_points(e, x, false, kernel_is_variadic(x) ? fold_joint : fold_point, &p->at[i]);
  }
  kernel_loop_end(e, &l);
}

/* Results with columns that were waiting for all rows. */
static void emit_finishing_columns(kernel_emitter *e) {
  kernel_pass none = {0, NULL};
  strbuf row = strbuf_make(e->a), body = strbuf_make(e->a), *outer = e->out;
  e->rows = 1;
  e->memos.count = 0;
  e->row = &row;
  e->body = e->out = &body;
  kernel_for_columns(e, emit_tile, &none);
  e->out = outer;
  e->row = e->body = NULL;
  strbuf_add(outer, row.text ? row.text : "", row.length);
  strbuf_add(outer, body.text, body.length);
}

/* ---- passes ---- */
/* The reductions over columns of a pass and phase, but for products. */
static kernel_pass pass_of(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  kernel_pass p = {.at = ARENA_ARRAY(e->a, accumulator, n->n_nodes + 1)};
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    if (x->index >= 0 && x->pass == e->pass && x->phase == e->phase && !x->is_product)
      p.at[p.n++].node = x;
  }
  return p;
}

static void clear_numbers(kernel_emitter *e) {
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, l.index, 1);
  for (uint32_t k = 0; k < e->n->n_nodes; k++) {
    const kernel_node *x = &e->n->nodes[k];
    if (x->index < 0 || x->pass != e->pass) continue;
    if (x->is_product) kernel_clear_product(e, x);
    else if (!is_top_k(x)) for_all_points(e, x, false, neutral_point, NULL);
    else if (!x->which) kernel_topk_clear(e, x);
  }
  kernel_clear_terms(e);
  kernel_loop_end(e, &l);
}

static bool is_list(const kernel_emitter *e, const kernel_node *x) {
  return is_top_k(x) && !x->which && x->index >= 0 && x->pass == e->pass;
}

static void sort_lists(kernel_emitter *e) {
  bool any = false;
  for (uint32_t k = 0; k < e->n->n_nodes; k++) any |= is_list(e, &e->n->nodes[k]);
  if (!any) return;
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, l.index, 1);
  for (uint32_t k = 0; k < e->n->n_nodes; k++)
    if (is_list(e, &e->n->nodes[k])) kernel_topk_sort(e, &e->n->nodes[k]);
  kernel_loop_end(e, &l);
}

/* The panel's rows: `rows` at a time, as far as these go, then one at a time. */
static void emit_rows_of_panel(kernel_emitter *e, kernel_pass *p, int32_t rows) {
  kernel_function f;
  kernel_function_begin(e, &f);
  const char *end = kernel_index(e, e->panel_begin, e->panel_rows, 1);
  const char *odd = kernel_line(e, "urem i64 %s, %d", e->panel_rows, rows);
  const char *main_end = kernel_line(e, "sub i64 %s, %s", end, odd);
  emit_rows(e, p, rows, e->panel_begin, main_end);
  if (has_odd_rows(e, rows)) emit_rows(e, p, 1, main_end, end);
  kernel_function_end(e, &f, KERNEL_PANEL, f.caller);
}

/* The phases of a pass, for some rows of the chunk and a block of columns. */
static void emit_panel(kernel_emitter *e) {
  e->is_running = true;
  for (e->phase = 0; e->phase < kernel_phases_of(e->n, e->pass); e->phase++) {
    kernel_pass p = pass_of(e);
    if (e->phase > 0) kernel_rescale(e);
    emit_rows_of_panel(e, &p, kernel_rows_of_phase(e));
    kernel_emit_products(e);
  }
  e->phase = 0;
  e->is_running = false;
}

static void emit_panels(kernel_emitter *e) {
  if (e->panel >= e->n->sizes.chunk) {
    e->panel_begin = "0";
    e->panel_rows = "%row_count";
    emit_panel(e);
  } else {
    kernel_loop l = kernel_loop_begin(e, "0", "%row_count", kernel_int(e, e->panel));
    const char *left = kernel_line(e, "sub i64 %%row_count, %s", l.index);
    const char *is_last = kernel_line(e, "icmp slt i64 %s, %lld", left, (long long)e->panel);
    e->panel_begin = l.index;
    e->panel_rows =
        kernel_line(e, "select i1 %s, i64 %s, i64 %lld", is_last, left, (long long)e->panel);
    emit_panel(e);
    kernel_loop_end(e, &l);
  }
  e->panel_begin = e->panel_rows = NULL;
}

static void emit_block(kernel_emitter *e, const kernel_loop *block) {
  const kernel_sizes *s = &e->n->sizes;
  e->block_begin = block->index;
  const char *left = kernel_line(e, "sub i64 %%column_end, %s", block->index);
  const char *is_last = kernel_line(e, "icmp slt i64 %s, %lld", left, (long long)s->block);
  e->block_columns =
      kernel_line(e, "select i1 %s, i64 %s, i64 %lld", is_last, left, (long long)s->block);
  const char *rest = kernel_line(e, "urem i64 %s, %d", e->block_columns, s->vectors * e->n->lanes);
  e->block_main = kernel_line(e, "sub i64 %s, %s", e->block_columns, rest);
  strbuf pack = strbuf_make(e->a), rows = strbuf_make(e->a), *outer = e->out;
  e->pack = &pack;
  e->out = &rows;
  if (e->finishes) emit_finishing_columns(e);
  else emit_panels(e);
  e->out = outer;
  e->pack = NULL;
  strbuf_add(outer, pack.text ? pack.text : "", pack.length);
  strbuf_add(outer, rows.text, rows.length);
}

static void emit_pass(kernel_emitter *e, int32_t pass) {
  strbuf before = strbuf_make(e->a), blocks = strbuf_make(e->a), *outer = e->out;
  e->pass = pass;
  kernel_plan_kept(e);
  if (!e->finishes) clear_numbers(e);
  e->before = &before;
  e->out = &blocks;
  kernel_loop block =
      kernel_loop_begin(e, "%column_begin", "%column_end", kernel_int(e, e->n->sizes.block));
  emit_block(e, &block);
  kernel_loop_end(e, &block);
  if (!e->finishes && e->n->sizes.column_spans == 1) sort_lists(e);
  e->out = outer;
  e->before = NULL;
  strbuf_add(outer, before.text ? before.text : "", before.length);
  strbuf_add(outer, blocks.text, blocks.length);
}

static void emit_row_results(kernel_emitter *e) {
  kernel_function f;
  kernel_function_begin(e, &f);
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  e->row = e->body = e->out;
  e->depth[1] = e->depth[0];
  e->vectors = 1;
  kernel_set_rows(e, l.index, 1);
  add_late(e, false);
  store_outputs(e, false);
  e->row = e->body = NULL;
  kernel_loop_end(e, &l);
  kernel_function_end(e, &f, KERNEL_CHUNK, f.caller);
}

/* ---- the function ---- */
const char *kernel_scratch(kernel_emitter *e, int64_t bytes) {
  const char *base = kernel_name(e);
  strbuf_printf(&e->places, "  %s = getelementptr i8, ptr %%scratch, i64 %lld\n", base,
                (long long)e->scratch_bytes);
  e->scratch_bytes += (bytes + 63) / 64 * 64;
  return base;
}

static void place_reductions(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  e->reduction_offset = ARENA_ARRAY(e->a, int64_t, (size_t)n->n_reductions + 1);
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    if (x->index < 0) continue;
    int64_t bytes = kernel_padded_points(n, x) * ir_dtype_bytes(dtype_of(e, x));
    if (is_top_k(x))
      bytes = x->which ? kernel_topk_limit_bytes(n, x - 1) : kernel_topk_list_bytes(n, x);
    bytes *= n->sizes.chunk;
    e->reduction_offset[x->index] = e->scratch_bytes;
    e->scratch_bytes += (bytes + 63) / 64 * 64;
  }
  e->reduction_bytes = e->scratch_bytes;
}

static void load_buffers(kernel_emitter *e) {
  e->out = &e->buffers;
  uint32_t inputs = e->n->n_inputs;
  for (uint32_t i = 0; i < inputs + e->n->n_outputs; i++) {
    const char *p = kernel_line(e, "getelementptr ptr, ptr %%buffers, i64 %u", i);
    kernel_put(e, "%%%s%u = load ptr, ptr %s", i < inputs ? "in" : "out",
               i < inputs ? i : i - inputs, p);
  }
  for (uint32_t i = 0; i < e->n->n_views; i++) {
    ir_value v = e->n->views[i];
    kernel_put(e, "%s = getelementptr %s, ptr %%in%d, i64 %lld", kernel_input_base(e, v),
               kernel_memory_type(ir_type_at(e->n->m, v)->dtype), kernel_input_of(e->n, v),
               (long long)kernel_view_offset(e->n, v));
  }
}

static void place_late(kernel_emitter *e, int64_t slots) {
  const kernel_nest *n = e->n;
  e->late_offset = ARENA_ARRAY(e->a, int64_t, (size_t)n->n_late + 1);
  for (uint32_t k = 0; k < n->n_nodes; k++) {
    const kernel_node *x = &n->nodes[k];
    if (x->late < 0) continue;
    int64_t bytes = kernel_padded_points(n, x) * kernel_late_width(n, x) *
                    ir_dtype_bytes(dtype_of(e, x)) * slots;
    e->late_offset[x->late] = e->shared_bytes;
    e->shared_bytes += (bytes + 63) / 64 * 64;
  }
}

static void bind_outer(kernel_emitter *e, const char *number) {
  const kernel_nest *n = e->n;
  for (int32_t a = 0; a < n->n_axes; a++) {
    if (n->role[a] != KERNEL_OUTER) continue;
    e->bound[a] = kernel_line(e, "urem i64 %s, %lld", number, (long long)n->extent[a]);
    number = kernel_line(e, "udiv i64 %s, %lld", number, (long long)n->extent[a]);
  }
}

static int64_t rows_of_span(const kernel_nest *n) {
  int64_t chunks = (n->extent[n->row] + n->sizes.chunk - 1) / n->sizes.chunk;
  return (chunks + n->sizes.spans - 1) / n->sizes.spans * n->sizes.chunk;
}

/* %<name>_begin and %<name>_end of the span of that number. */
static void put_span(kernel_emitter *e, const char *name, const char *number, int64_t width,
                     int64_t extent) {
  kernel_put(e, "%%%s_begin = mul i64 %s, %lld", name, number, (long long)width);
  const char *end = kernel_line(e, "add i64 %%%s_begin, %lld", name, (long long)width);
  const char *is_last = kernel_line(e, "icmp sgt i64 %s, %lld", end, (long long)extent);
  kernel_put(e, "%%%s_end = select i1 %s, i64 %lld, i64 %s", name, is_last, (long long)extent, end);
}

static int64_t columns_of_span(const kernel_nest *n) {
  int64_t blocks = (n->extent[n->column] + n->sizes.block - 1) / n->sizes.block;
  return (blocks + n->sizes.column_spans - 1) / n->sizes.column_spans * n->sizes.block;
}

static const char *divided(kernel_emitter *e, const char *number, int64_t by,
                           const char **out_rest) {
  *out_rest = kernel_line(e, "urem i64 %s, %lld", number, (long long)by);
  return kernel_line(e, "udiv i64 %s, %lld", number, (long long)by);
}

/* item -> outer indices, the span of columns, the rows of its span. */
static void decode_item(kernel_emitter *e, int64_t column_spans) {
  const kernel_nest *n = e->n;
  const char *rows, *columns;
  const char *number = divided(e, "%item", n->sizes.spans, &rows);
  number = divided(e, number, column_spans, &columns);
  bind_outer(e, number);
  put_span(e, "span", rows, rows_of_span(n), n->extent[n->row]);
  put_span(e, "column", columns, column_spans == 1 ? n->extent[n->column] : columns_of_span(n),
           n->extent[n->column]);
}

/* ---- spans of columns: what each found, in the shared memory ---- */
static void copy_numbers(kernel_emitter *e, const char *to, const char *from) {
  kernel_declare(e, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)");
  kernel_put(
      e, "call void @llvm.memcpy.p0.p0.i64(ptr align 64 %s, ptr align 64 %s, i64 %lld, i1 false)",
      to, from, (long long)e->reduction_bytes);
}

static const char *numbers_of(kernel_emitter *e, const char *item) {
  const char *at = kernel_index(e, "0", item, e->reduction_bytes);
  return kernel_line(e, "getelementptr i8, ptr %%shared, i64 %s", at);
}

static const char *number_at(kernel_emitter *e, const kernel_node *x, const char *numbers) {
  const char *before = e->numbers;
  e->numbers = numbers;
  const char *p = kernel_reduction_at(e, x, 0);
  e->numbers = before;
  return kernel_load_at(e, dtype_of(e, x), false, p);
}

static void merge_point(kernel_emitter *e, const kernel_node *x, void *user) {
  uint32_t n = kernel_is_variadic(x) ? ir_op_get(e->n->m, x->op)->n_results : 1;
  const char *sums[KERNEL_MOST_OPERANDS], *add[KERNEL_MOST_OPERANDS] = {NULL};
  for (uint32_t i = 0; i < n; i++) {
    sums[i] = number_at(e, &x[i], e->numbers);
    add[i] = number_at(e, &x[i], user);
  }
  if (kernel_is_variadic(x)) kernel_variadic_combine(e, x, 1, sums, add);
  else
    sums[0] = kernel_combine(e, x->monoid, dtype_of(e, x), kernel_dtype_text(dtype_of(e, x)), 1,
                             sums[0], add[0]);
  for (uint32_t i = 0; i < n; i++) store_number(e, &x[i], 0, sums[i]);
}

static void merge_numbers(kernel_emitter *e, const kernel_pass *p, const char *other) {
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, l.index, 1);
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (x->which) continue;
    if (is_top_k(x)) kernel_topk_merge(e, x, other);
    else for_all_points(e, x, false, merge_point, (void *)other);
  }
  kernel_loop_end(e, &l);
}

static kernel_loop begin_chunk(kernel_emitter *e) {
  const kernel_sizes *s = &e->n->sizes;
  kernel_loop l = kernel_loop_begin(e, "%span_begin", "%span_end", kernel_int(e, s->chunk));
  kernel_put(e, "%%row_begin = add i64 %s, 0", l.index);
  const char *left = kernel_line(e, "sub i64 %%span_end, %%row_begin");
  const char *is_last = kernel_line(e, "icmp slt i64 %s, %lld", left, (long long)s->chunk);
  kernel_put(e, "%%row_count = select i1 %s, i64 %s, i64 %lld", is_last, left, (long long)s->chunk);
  return l;
}

static void emit_work(kernel_emitter *e, strbuf *all) {
  kernel_function f;
  kernel_function_begin(e, &f);
  e->out = &e->entry;
  decode_item(e, e->n->sizes.column_spans);
  e->slot = "%item";
  e->out = &f.code;
  for_each_late(e, clear_late);
  kernel_loop chunk = begin_chunk(e);
  strbuf copies = strbuf_make(e->a), passes = strbuf_make(e->a);
  e->chunk_pack = &copies;
  e->out = &passes;
  for (int32_t pass = 0; pass < e->n->n_passes; pass++) emit_pass(e, pass);
  e->out = &f.code;
  strbuf_add(&f.code, copies.text ? copies.text : "", copies.length);
  strbuf_add(&f.code, passes.text, passes.length);
  if (e->n->sizes.column_spans > 1) copy_numbers(e, numbers_of(e, "%item"), "%scratch");
  else emit_row_results(e);
  kernel_loop_end(e, &chunk);
  kernel_function_export(e, &f, "", all);
}

/* One item per chunk of rows: what the spans of columns found, in their order, then the results. */
static void emit_merging(kernel_emitter *e, strbuf *all) {
  const kernel_sizes *s = &e->n->sizes;
  kernel_function f;
  kernel_function_begin(e, &f);
  e->pass = e->phase = 0;
  kernel_pass p = pass_of(e);
  e->memos.count = 0;
  e->out = &e->entry;
  decode_item(e, 1);
  const char *chunk;
  const char *first = divided(e, "%item", s->spans, &chunk);
  first = kernel_index(e, chunk, first, s->spans * s->column_spans);
  e->out = &f.code;
  kernel_loop l = begin_chunk(e);
  copy_numbers(e, "%scratch", numbers_of(e, first));
  for (int64_t k = 1; k < s->column_spans; k++)
    merge_numbers(e, &p, numbers_of(e, kernel_index(e, first, kernel_int(e, k), s->spans)));
  sort_lists(e);
  emit_row_results(e);
  kernel_loop_end(e, &l);
  kernel_function_export(e, &f, "_finish", all);
}

static bool has_late_results(const kernel_nest *n) {
  bool any = false;
  for (uint32_t j = 0; j < n->n_outputs; j++) any |= n->outputs[j].after;
  return any;
}

/* One item per outer index: partial results merged, then the results that wait for them. */
static void emit_finish(kernel_emitter *e, strbuf *all) {
  kernel_function f;
  kernel_function_begin(e, &f);
  e->packs.count = e->memos.count = e->tables.count = 0;
  e->finishes = true;
  e->pass = e->n->n_passes;
  e->out = &e->entry;
  bind_outer(e, "%item");
  put_span(e, "column", "0", e->n->extent[e->n->column], e->n->extent[e->n->column]);
  e->slot = kernel_index(e, "0", "%item", e->n->sizes.spans);
  e->out = &f.code;
  for_each_late(e, merge_late);
  emit_pass(e, e->pass);
  e->row = e->body = e->out;
  e->rows = e->vectors = 1;
  e->memos.count = 0;
  store_outputs(e, false);
  e->row = e->body = NULL;
  kernel_function_export(e, &f, "_finish", all);
}

static strbuf assemble(kernel_emitter *e, const strbuf *functions) {
  strbuf all = strbuf_make(e->a);
  for (uint32_t i = 0; i < e->declared.count; i++) strbuf_printf(&all, "%s\n", e->declared.at[i]);
  strbuf_add(&all, e->helpers.text ? e->helpers.text : "", e->helpers.length);
  strbuf_add(&all, functions->text, functions->length);
  strbuf_puts(&all,
              "\nattributes #0 = { nounwind \"prefer-vector-width\"=\"512\" "
              "\"min-legal-vector-width\"=\"512\"" KERNEL_CHECKED
              " }\n"
              "attributes #1 = { alwaysinline" KERNEL_CHECKED
              " }\n"
              "!0 = !{}\n"
              "!1 = !{!\"branch_weights\", i32 2000, i32 1}\n");
  return all;
}

kernel_code kernel_emit(arena *a, kernel_nest *n, const char *name) {
  kernel_emitter e = {.n = n, .a = a, .name = name, .numbers = "%scratch"};
  e.buffers = e.places = e.helpers = strbuf_make(a);
  strbuf functions = strbuf_make(a);
  int64_t outer = kernel_outer_extent(n), items = outer * n->sizes.spans * n->sizes.column_spans;
  bool finishes = has_late_results(n), merges = n->sizes.column_spans > 1;
  e.known = ARENA_ARRAY(a, kernel_known, KERNEL_KNOWN_LINES);
  load_buffers(&e);
  e.seen = ARENA_ARRAY(a, uint32_t, n->n_nodes + 1);
  e.visited = ARENA_ARRAY(a, uint64_t, n->n_nodes + 1);
  e.has_helpers = ARENA_ARRAY(a, bool, n->n_nodes + 1);
  place_reductions(&e);
  kernel_place_terms(&e);
  place_late(&e, items);
  emit_work(&e, &functions);
  if (finishes) emit_finish(&e, &functions);
  if (merges) {
    emit_merging(&e, &functions);
    e.shared_bytes += items * e.reduction_bytes;
  }
  strbuf all = assemble(&e, &functions);
  return (kernel_code){.is_too_long = kernel_is_too_long(&e),
                       .text = all.text,
                       .length = all.length,
                       .functions = e.functions.at,
                       .n_functions = e.functions.count,
                       .items = items,
                       .finishing = merges     ? outer * n->sizes.spans
                                    : finishes ? outer
                                               : 0,
                       .scratch_bytes = e.scratch_bytes,
                       .shared_bytes = e.shared_bytes};
}
