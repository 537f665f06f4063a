/* Extents made smaller: all dimensions of one length in a program change together, in types,
 * constants and the attributes that repeat extents, because which of them belong together is known
 * only to the op rules. Where a length means two things, or is hidden in a product (reshape), the
 * outcome does not verify and is not taken; the variant that divides multiples too serves products.
 */
#include <stdlib.h>

#include "pass/shrink.h"

typedef struct lengths {
  arena *a;
  VEC(int64_t) list; /* each once, falling */
} lengths;

/* ---- which lengths there are ---- */
static void add_length(lengths *l, int64_t n) {
  if (n > 1) VEC_PUSH(l->a, &l->list, n);
}

static void add_type(lengths *l, const ir_module *m, ir_type type) {
  const ir_type_data *t = ir_type_get(m, type);
  for (int32_t i = 0; t->kind == IR_TYPE_TENSOR && i < t->rank; i++) add_length(l, t->dims[i]);
  for (int32_t i = 0; t->kind == IR_TYPE_TUPLE && i < t->n_types; i++) add_type(l, m, t->types[i]);
}

static void add_op(lengths *l, const ir_module *m, ir_op op) {
  for (ir_value v, i = 0; (v = ir_result_at(m, op, i)); i++) add_type(l, m, ir_type_of(m, v));
  for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));)
    for (ir_value v, i = 0; (v = ir_argument_at(m, below, i)); i++)
      add_type(l, m, ir_type_of(m, v));
}

static int falling(const void *x, const void *y) {
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a < b) - (a > b);
}

static lengths lengths_of(arena *a, const ir_module *m) {
  lengths l = {.a = a};
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) add_op(&l, m, w.op);
  if (l.list.count) qsort(l.list.at, l.list.count, sizeof *l.list.at, falling);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < l.list.count; i++)
    if (!kept || l.list.at[kept - 1] != l.list.at[i]) l.list.at[kept++] = l.list.at[i];
  l.list.count = kept;
  return l;
}

/* ---- changing them ---- */
typedef struct change {
  ir_module *m;
  arena *a;
  const int64_t *from; /* the chosen lengths */
  uint32_t count;
  int64_t (*to)(int64_t length);
  bool multiples; /* change too, by the same ratio */
} change;

static int64_t changed(const change *c, int64_t n) {
  for (uint32_t i = 0; i < c->count; i++)
    if (n == c->from[i]) return c->to(n);
  for (uint32_t i = 0; c->multiples && n > 0 && i < c->count; i++)
    if (n % c->from[i] == 0) return n / c->from[i] * c->to(c->from[i]);
  return n;
}

static ir_type changed_type(const change *c, ir_type type) {
  ir_type_data d = *ir_type_get(c->m, type);
  int64_t *dims = ARENA_ARRAY(c->a, int64_t, (size_t)d.rank + 1);
  ir_type *types = ARENA_ARRAY(c->a, ir_type, (size_t)(d.n_types + d.n_results) + 1);
  for (int32_t i = 0; i < d.rank; i++) dims[i] = changed(c, d.dims[i]);
  for (int32_t i = 0; i < d.n_types + d.n_results; i++) types[i] = changed_type(c, d.types[i]);
  d.dims = dims;
  d.types = types;
  return ir_type_intern(c->m, &d);
}

/* The first elements of it. */
static void change_constant(const change *c, ir_op op) {
  const ir_attr_data *found = ir_op_attr_of(c->m, op, "value", IR_ATTR_DENSE);
  if (!found) return;
  ir_attr_data d = *found;
  ir_type type = changed_type(c, d.type);
  if (!d.splat && ir_type_bytes(c->m, type) > ir_type_bytes(c->m, d.type)) return;
  ir_op_set_attr(c->m, op, "value", ir_attr_dense(c->m, type, d.data, d.splat), true);
}

static void change_numbers(const change *c, ir_op op, const char *name) {
  int32_t n;
  const int64_t *old = ir_op_ints(c->m, op, name, &n);
  if (!old) return;
  int64_t *numbers = ARENA_ARRAY(c->a, int64_t, (size_t)n + 1);
  for (int32_t i = 0; i < n; i++) numbers[i] = changed(c, old[i]);
  ir_op_set_attr(c->m, op, name, ir_attr_i64s(c->m, numbers, n), true);
}

static void change_function_type(const change *c, ir_op op) {
  const ir_attr_data *found = ir_op_attr_of(c->m, op, "function_type", IR_ATTR_TYPE);
  if (!found) return;
  ir_attr_data d = *found;
  d.type = changed_type(c, d.type);
  ir_op_set_attr(c->m, op, "function_type", ir_attr_new(c->m, &d), true);
}

static void change_attributes(const change *c, ir_op op) {
  static const char *const repeat_extents[] = {"limit_indices", "slice_sizes", "window_dimensions",
                                               "broadcast_sizes", "fft_length"};
  if (ir_kind_of(c->m, op) == IR_OP_CONSTANT) change_constant(c, op);
  if (ir_kind_of(c->m, op) == IR_OP_FUNC) change_function_type(c, op);
  for (size_t i = 0; i < sizeof repeat_extents / sizeof *repeat_extents; i++)
    change_numbers(c, op, repeat_extents[i]);
}

static void change_lengths(ir_module *m, uint32_t first, uint32_t count, int64_t (*to)(int64_t),
                           bool multiples) {
  arena *a = arena_create(m->ctx);
  lengths l = lengths_of(a, m);
  CTX_CHECK(m->ctx, first + count <= l.list.count);
  change c = {m, a, l.list.at + first, count, to, multiples};
  for (uint32_t v = 1; v < m->values.count; v++)
    m->values.at[v].type = changed_type(&c, m->values.at[v].type);
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) change_attributes(&c, w.op);
  arena_destroy(a);
}

/* ---- the ways ---- */
static int64_t one(int64_t n) { return n < 1 ? n : 1; }
static int64_t two(int64_t n) { return n < 2 ? n : 2; }
static int64_t half(int64_t n) { return n / 2; }

uint32_t pass_count_lengths(ir_module *m) {
  arena *a = arena_create(m->ctx);
  uint32_t n = lengths_of(a, m).list.count;
  arena_destroy(a);
  return n;
}

#define WAY(word, target, multiples)                                                               \
  void pass_##word(ir_module *m, uint32_t first, uint32_t count) {                                 \
    change_lengths(m, first, count, target, multiples);                                            \
  }
WAY(dims_to_one, one, false)
WAY(dims_to_two, two, false)
WAY(dims_to_half, half, false)
WAY(factors_to_one, one, true)
WAY(factors_to_two, two, true)
WAY(factors_to_half, half, true)
