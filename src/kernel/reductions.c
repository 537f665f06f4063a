#include "kernel/reductions.h"

#include "kernel/cost.h"
#include "kernel/elementwise.h"
#include "kernel/lists.h"

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
    e->tile.is_constant[axis] = true;
    for (int64_t i = 0; i < extent; i++) {
      e->tile.bound[axis] = kernel_int(e, i);
      for_points(e, x, rest, hoists, fn, user);
    }
  } else {
    if (hoists) kernel_hoist(e, x, axis);
    kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, extent), "1");
    e->tile.bound[axis] = l.index;
    for_points(e, x, rest, hoists, fn, user);
    kernel_loop_end(e, &l);
  }
  e->tile.bound[axis] = NULL;
  e->tile.is_constant[axis] = false;
}

void kernel_for_points(kernel_emitter *e, const kernel_node *x, bool hoists, kernel_point_fn *fn,
                       void *user) {
  for_points(e, x, kernel_point_axes(e->n, x->mask), hoists, fn, user);
}

/* ---- accumulators ---- */
static bool is_top_k(const kernel_node *x) { return x->kind == IR_OP_CHLO_TOP_K; }

static const char *accumulator_at(kernel_emitter *e, const accumulator *acc, int32_t r) {
  const char *at = kernel_point_number(e, acc->node->mask, "0");
  at = kernel_index(e, kernel_index(e, "0", at, e->tile.rows), kernel_int(e, r), 1);
  return kernel_line(e, "getelementptr %s, ptr %s, i64 %s",
                     kernel_type(e, kernel_dtype_of(e, acc->node), true), acc->base, at);
}

static const char *neutral_of(kernel_emitter *e, const kernel_node *x) {
  return kernel_is_variadic(x) ? kernel_variadic_neutral(e, x)
                               : kernel_neutral(e, x->monoid, kernel_dtype_of(e, x));
}

static void clear_point(kernel_emitter *e, const kernel_node *x, void *user) {
  ir_dtype dtype = kernel_dtype_of(e, x);
  const char *neutral = kernel_splat(e, dtype, neutral_of(e, x));
  for (int32_t r = 0; r < e->tile.rows; r++)
    kernel_put(e, "store %s %s, ptr %s", kernel_type(e, dtype, true), neutral,
               accumulator_at(e, user, r));
}

void kernel_reductions_begin(kernel_emitter *e, kernel_pass *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (is_top_k(x)) continue;
    p->at[i].base = kernel_name(e);
    strbuf_printf(
        &e->entry, "  %s = alloca [%lld x %s], align 64\n", p->at[i].base,
        (long long)(kernel_extent_of(e->n, kernel_point_axes(e->n, x->mask)) * e->tile.rows),
        kernel_type(e, kernel_dtype_of(e, x), true));
    kernel_for_points(e, x, false, clear_point, &p->at[i]);
  }
}

static const char *masked_term(kernel_emitter *e, const kernel_node *x, const char *type,
                               const char *term) {
  if (!e->tile.mask) return term;
  ir_dtype dtype = kernel_dtype_of(e, x);
  const char *neutral = kernel_splat(e, dtype, neutral_of(e, x));
  return kernel_line(e, "select <%d x i1> %s, %s %s, %s %s", e->n->lanes, e->tile.mask, type, term,
                     type, neutral);
}

static void accumulate_point(kernel_emitter *e, const kernel_node *x, void *user) {
  kernel_grid g = kernel_contribution(e, x);
  const char *type = kernel_type(e, g.dtype, true);
  for (int32_t r = 0; r < e->tile.rows; r++) {
    const char *slot = accumulator_at(e, user, r),
               *sum = kernel_line(e, "load %s, ptr %s", type, slot);
    for (int32_t c = 0; c < e->tile.vectors; c++) {
      const char *term = kernel_widened(e, &g, r, c, true);
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
  for (int32_t r = 0; r < e->tile.rows; r++) {
    const char *sums[KERNEL_MOST_OPERANDS], *add[KERNEL_MOST_OPERANDS],
        *slots[KERNEL_MOST_OPERANDS];
    for (uint32_t i = 0; i < n; i++) {
      slots[i] = accumulator_at(e, &acc[i], r);
      sums[i] = kernel_line(e, "load %s, ptr %s", kernel_type(e, terms[i].dtype, true), slots[i]);
    }
    for (int32_t c = 0; c < e->tile.vectors; c++) {
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

void kernel_reductions_add(kernel_emitter *e, kernel_pass *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (x->which) continue;
    if (is_top_k(x)) kernel_topk_add(e, x);
    else
      kernel_for_points(e, x, true, kernel_is_variadic(x) ? accumulate_joint : accumulate_point,
                        &p->at[i]);
  }
}

static void store_number(kernel_emitter *e, const kernel_node *x, int32_t r, const char *number) {
  kernel_store_at(e, kernel_dtype_of(e, x), false, number, kernel_reduction_at(e, x, r));
}

static void fold_point(kernel_emitter *e, const kernel_node *x, void *user) {
  ir_dtype dtype = kernel_dtype_of(e, x);
  for (int32_t r = 0; r < e->tile.rows; r++) {
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
  for (int32_t r = 0; r < e->tile.rows; r++) {
    const char *sums[KERNEL_MOST_OPERANDS], *old[KERNEL_MOST_OPERANDS];
    for (uint32_t i = 0; i < n; i++) {
      ir_dtype dtype = kernel_dtype_of(e, &x[i]);
      sums[i] = kernel_line(e, "load %s, ptr %s", kernel_type(e, dtype, true),
                            accumulator_at(e, &acc[i], r));
      old[i] = kernel_load_at(e, dtype, false, kernel_reduction_at(e, &x[i], r));
    }
    kernel_variadic_across_lanes(e, x, sums);
    kernel_variadic_combine(e, x, 1, old, sums);
    for (uint32_t i = 0; i < n; i++) store_number(e, &x[i], r, old[i]);
  }
}

void kernel_reductions_fold(kernel_emitter *e, kernel_pass *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (!x->which && !is_top_k(x))
      kernel_for_points(e, x, false, kernel_is_variadic(x) ? fold_joint : fold_point, &p->at[i]);
  }
}

static void neutral_point(kernel_emitter *e, const kernel_node *x, void *user) {
  (void)user;
  store_number(e, x, 0, neutral_of(e, x));
}

/* ---- of a pass ---- */
/* The reductions over columns of a pass and phase, but for products. */
kernel_pass kernel_pass_of(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  kernel_pass p = {.at = ARENA_ARRAY(e->a, accumulator, n->n_nodes + 1)};
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++)
    if (x->index >= 0 && x->pass == e->pass && x->phase == e->phase && !x->is_product)
      p.at[p.n++].node = x;
  return p;
}

void kernel_clear_numbers(kernel_emitter *e) {
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, l.index, 1);
  for (const kernel_node *x = e->n->nodes; x < e->n->nodes + e->n->n_nodes; x++) {
    if (x->index < 0 || x->pass != e->pass) continue;
    if (x->is_product) kernel_clear_product(e, x);
    else if (!is_top_k(x)) kernel_for_points(e, x, false, neutral_point, NULL);
    else if (!x->which) kernel_topk_clear(e, x);
  }
  kernel_clear_terms(e);
  kernel_loop_end(e, &l);
}

static bool is_list(const kernel_emitter *e, const kernel_node *x) {
  return is_top_k(x) && !x->which && x->index >= 0 && x->pass == e->pass;
}

void kernel_sort_lists(kernel_emitter *e) {
  bool any = false;
  for (kernel_node *x = e->n->nodes; x < e->n->nodes + e->n->n_nodes; x++) any |= is_list(e, x);
  if (!any) return;
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, l.index, 1);
  for (kernel_node *node = e->n->nodes; node < e->n->nodes + e->n->n_nodes; node++)
    if (is_list(e, node)) kernel_topk_sort(e, node);
  kernel_loop_end(e, &l);
}

void kernel_place_reductions(kernel_emitter *e) {
  const kernel_nest *n = e->n;
  e->reduction_offset = ARENA_ARRAY(e->a, int64_t, (size_t)n->n_reductions + 1);
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    if (x->index < 0) continue;
    int64_t bytes = kernel_padded_points(n, x) * ir_dtype_bytes(kernel_dtype_of(e, x));
    if (is_top_k(x))
      bytes = x->which ? kernel_topk_limit_bytes(n, x - 1) : kernel_topk_list_bytes(n, x);
    e->reduction_offset[x->index] = kernel_take(&e->scratch_bytes, bytes * n->sizes.chunk);
  }
  e->reduction_bytes = e->scratch_bytes;
}

/* ---- reductions over rows ---- */
/* The rows of the tile by themselves: what is added to a partial result is a sum already, which
 * loses less than term after term. */
static const char *sum_of_rows(kernel_emitter *e, const kernel_node *x, const kernel_grid *g,
                               int32_t c, bool is_vector) {
  const char *type = kernel_type(e, g->dtype, is_vector), *sum = NULL;
  for (int32_t r = 0; r < e->tile.rows; r++) {
    const char *term = kernel_widened(e, g, r, c, is_vector);
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
  for (int32_t c = 0; c < (has_column ? e->tile.vectors : 1); c++) {
    const char *sum = sum_of_rows(e, x, &g, c, has_column);
    const char *at = kernel_index(e, e->tile.column, kernel_int(e, (int64_t)c * e->n->lanes), 1);
    if (keeps_column) add_to_slot(e, x, at, g.dtype, true, sum);
    else all = all ? kernel_combine(e, x->monoid, g.dtype, type, e->n->lanes, all, sum) : sum;
  }
  if (!keeps_column) add_to_slot(e, x, "0", g.dtype, has_column, all);
}

void kernel_add_late(kernel_emitter *e, bool with_columns) {
  for (const kernel_node *x = e->n->nodes; x < e->n->nodes + e->n->n_nodes; x++) {
    bool has_column = (x->mask | x->reduces) >> e->n->column & 1;
    if (x->late < 0 || x->is_product || has_column != with_columns) continue;
    if (has_column && (x->pass != e->pass || x->phase != e->phase)) continue;
    kernel_for_points(e, x, true, late_point, NULL);
  }
}

/* All partial results of a slot, one after the other: fn gets the address in this slot. */
typedef void late_fn(kernel_emitter *e, const kernel_node *x, const char *at);

static void for_each_late(kernel_emitter *e, late_fn *fn) {
  for (const kernel_node *x = e->n->nodes; x < e->n->nodes + e->n->n_nodes; x++) {
    if (x->late < 0) continue;
    int64_t count = kernel_late_width(e->n, x) * kernel_padded_points(e->n, x);
    const char *one = kernel_memory_type(kernel_dtype_of(e, x));
    const char *base = kernel_line(e, "getelementptr i8, ptr %%shared, i64 %lld",
                                   (long long)e->late_offset[x->late]);
    kernel_loop l = kernel_loop_begin(e, "0", kernel_int(e, count), "1");
    const char *at = kernel_index(e, l.index, e->slot, count);
    fn(e, x, kernel_line(e, "getelementptr %s, ptr %s, i64 %s", one, base, at));
    kernel_loop_end(e, &l);
  }
}

static void clear_late(kernel_emitter *e, const kernel_node *x, const char *at) {
  ir_dtype dtype = kernel_dtype_of(e, x);
  kernel_store_at(e, dtype, false, kernel_neutral(e, x->monoid, dtype), at);
}

/* The slots that follow, added to the first. */
static void merge_late(kernel_emitter *e, const kernel_node *x, const char *at) {
  ir_dtype dtype = kernel_dtype_of(e, x);
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

void kernel_clear_slots(kernel_emitter *e) { for_each_late(e, clear_late); }

void kernel_merge_slots(kernel_emitter *e) { for_each_late(e, merge_late); }

void kernel_place_late(kernel_emitter *e, int64_t slots) {
  const kernel_nest *n = e->n;
  e->late_offset = ARENA_ARRAY(e->a, int64_t, (size_t)n->n_late + 1);
  for (const kernel_node *x = n->nodes; x < n->nodes + n->n_nodes; x++) {
    if (x->late < 0) continue;
    int64_t bytes = kernel_padded_points(n, x) * kernel_late_width(n, x) *
                    ir_dtype_bytes(kernel_dtype_of(e, x)) * slots;
    e->late_offset[x->late] = kernel_take(&e->shared_bytes, bytes);
  }
}

/* ---- spans of columns: what each found, in the shared memory ---- */
void kernel_copy_numbers(kernel_emitter *e, const char *to, const char *from) {
  kernel_declare(e, "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)");
  kernel_put(
      e, "call void @llvm.memcpy.p0.p0.i64(ptr align 64 %s, ptr align 64 %s, i64 %lld, i1 false)",
      to, from, (long long)e->reduction_bytes);
}

const char *kernel_numbers_of(kernel_emitter *e, const char *item) {
  const char *at = kernel_index(e, "0", item, e->reduction_bytes);
  return kernel_line(e, "getelementptr i8, ptr %%shared, i64 %s", at);
}

static const char *number_at(kernel_emitter *e, const kernel_node *x, const char *numbers) {
  const char *before = e->numbers;
  e->numbers = numbers;
  const char *p = kernel_reduction_at(e, x, 0);
  e->numbers = before;
  return kernel_load_at(e, kernel_dtype_of(e, x), false, p);
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
    sums[0] = kernel_combine(e, x->monoid, kernel_dtype_of(e, x),
                             kernel_dtype_text(kernel_dtype_of(e, x)), 1, sums[0], add[0]);
  for (uint32_t i = 0; i < n; i++) store_number(e, &x[i], 0, sums[i]);
}

void kernel_merge_numbers(kernel_emitter *e, const kernel_pass *p, const char *other) {
  kernel_loop l = kernel_loop_begin(e, "0", "%row_count", "1");
  kernel_set_rows(e, l.index, 1);
  for (uint32_t i = 0; i < p->n; i++) {
    const kernel_node *x = p->at[i].node;
    if (x->which) continue;
    if (is_top_k(x)) kernel_topk_merge(e, x, other);
    else kernel_for_points(e, x, false, merge_point, (void *)other);
  }
  kernel_loop_end(e, &l);
}
