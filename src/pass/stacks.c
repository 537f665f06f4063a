/* stacks: parts of one tensor that are put side by side are gathered, and what is added to such
 * parts is scattered.
 *
 *   concatenate(x[s_0:], x[s_1:], ..)             =  gather(x, [s_0, s_1, ..])
 *   pad(y[0]) at s_0 + pad(y[1]) at s_1 + .. + z  =  scatter(0, [s_0, s_1, ..], y, add) + z
 *
 * jnp.stack([x[i:i + n] for i in ..]), as people write windows, neighbourhoods and stencils by
 * hand, and its gradient. A gather is cut along its entries: a trip reads the parts that it needs.
 * Of a concatenation it would need all, or each of them at a place of its own along what is
 * shifted.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. The gather is
 * exact; the sum is added up in the order of y, and a sum of nothing but -0 may be +0. Left alone:
 * fewer than LEAST parts, parts that are longer than 1 where they are put side by side, strides,
 * rolls, tensors that are small against the limit; sums of 16-bit floats, sums that lack a part of
 * y or have one twice, and those of more than MOST terms. Cost: of a sum, the square of its terms.
 */
#include "ir/maps.h"
#include "pass/build.h"

enum { LEAST = 4, MOST = 1024, STEPS = 64, DEPTH = 4 };

/* Windows of x, which one dimension of y counts. */
typedef struct stack {
  ir_value x, y;        /* of these one is to be made */
  ir_type whole, parts; /* of x and of y */
  ir_type window;
  int32_t dim;                /* of y */
  int32_t at;                 /* the same among the dimensions of a window */
  int64_t count, *starts;     /* count times one for each dimension of x */
  int64_t dims[IR_MAX_RANK];  /* the windows side by side */
  int64_t named[IR_MAX_RANK]; /* dimensions of x that windows are parts of */
  int64_t inner[IR_MAX_RANK]; /* dimensions of `dims` but `at` */
  int32_t n_named;
} stack;

/* ---- looking ---- */
static ir_value before_reshapes(ir_module *m, ir_value v) {
  for (ir_op op; (op = ir_value_get(m, v)->op) && ir_keeps_order(m, op);) v = ir_operand(m, op, 0);
  return v;
}

static const int64_t origin[IR_MAX_RANK];

/* v = *out_x[starts:] without gaps; of what is no such part, all. */
static const int64_t *starts_of(ir_module *m, ir_value v, ir_value *out_x) {
  ir_op op = ir_maker(m, v, IR_OP_SLICE);
  *out_x = v;
  if (!op || !pass_is_static(m, op)) return origin;
  ir_ints strides = ir_op_list(m, op, "strides");
  for (int32_t d = 0; d < strides.count; d++)
    if (strides.at[d] != 1) return origin;
  *out_x = ir_operand(m, op, 0);
  return ir_op_list(m, op, "start_indices").at;
}

/* The dimension of a window in front of which y has `dim`; -1: they differ by more than ones. */
static int32_t place_of(const ir_type_data *y, int32_t dim, const ir_type_data *window) {
  int32_t i = 0, at = -1;
  for (int32_t d = 0; d < y->rank; d++) {
    if (d == dim) at = i;
    if (d == dim || y->dims[d] == 1) continue;
    while (i < window->rank && window->dims[i] == 1) i++;
    if (i == window->rank || window->dims[i++] != y->dims[d]) return -1;
  }
  while (i < window->rank && window->dims[i] == 1) i++;
  return i == window->rank ? at : -1;
}

/* Types, dim and count are known: where windows lie in x and in y. */
static bool place(ir_module *m, stack *s) {
  const ir_type_data *whole = ir_type_get(m, s->whole), *window = ir_type_get(m, s->window);
  s->at = place_of(ir_type_get(m, s->parts), s->dim, window);
  if (s->at < 0 || window->rank + 1 >= IR_MAX_RANK) return false;
  s->n_named = 0;
  for (int32_t d = 0; d < window->rank; d++) {
    int32_t to = d + (d >= s->at);
    s->inner[d] = to;
    s->dims[to] = window->dims[d];
    if (window->dims[d] != whole->dims[d]) s->named[s->n_named++] = d;
  }
  s->dims[s->at] = s->count;
  return s->n_named > 0;
}

/* ---- making ---- */
static ir_type side_by_side(ir_module *m, const stack *s) {
  const ir_type_data *window = ir_type_get(m, s->window);
  return ir_tensor(m, window->dtype, window->rank + 1, s->dims);
}

/* [count, named dimensions] */
static ir_value build_starts(pass_rewrite *f, const stack *s) {
  ir_module *m = f->m;
  int32_t rank = ir_type_get(m, s->whole)->rank;
  int64_t *at = ARENA_ARRAY(f->p->scratch, int64_t, s->count * s->n_named + 1);
  for (int64_t k = 0; k < s->count; k++)
    for (int32_t i = 0; i < s->n_named; i++)
      at[k * s->n_named + i] = s->starts[k * rank + s->named[i]];
  ir_type type = ir_tensor(m, IR_I64, 2, (int64_t[]){s->count, s->n_named});
  ir_named_attr value = ir_property(m, "value", ir_attr_dense(m, type, at, false));
  return ir_build(&f->b, IR_OP_CONSTANT, 0, NULL, type, 1, &value);
}

static ir_gather_numbers numbers_of(ir_module *m, const stack *s) {
  return (ir_gather_numbers){.offset_dims = {ir_type_get(m, s->window)->rank, s->inner},
                             .start_index_map = {s->n_named, s->named},
                             .index_vector_dim = 1};
}

static ir_value build_gather(pass_rewrite *f, const stack *s) {
  ir_module *m = f->m;
  ir_gather_numbers n = numbers_of(m, s);
  int64_t sizes[IR_MAX_RANK];
  memcpy(sizes, ir_type_get(m, s->window)->dims, sizeof *sizes * (size_t)n.offset_dims.count);
  ir_value made = ir_build_gather(&f->b, s->x, build_starts(f, s), side_by_side(m, s), &n, sizes);
  return ir_build_reshape(&f->b, made, s->parts);
}

static ir_value build_scatter(pass_rewrite *f, const stack *s) {
  ir_module *m = f->m;
  ir_gather_numbers n = numbers_of(m, s);
  ir_value zeros = ir_build_zeros(&f->b, s->whole), starts = build_starts(f, s);
  ir_value y = ir_build_reshape(&f->b, s->y, side_by_side(m, s));
  ir_op op = ir_build_scatter(&f->b, zeros, starts, y, &n);
  ir_build_reducer(&f->b, op, IR_OP_ADD, ir_type_get(m, s->whole)->dtype);
  return ir_result(m, op, 0);
}

/* ---- parts side by side ---- */
static int32_t dim_of(const ir_module *m, ir_op concatenate) {
  return (int32_t)ir_op_int(m, concatenate, "dimension", -1);
}

/* Whether it is put together with others along the same dimension. */
static bool is_inner(const pass_rewrite *f, ir_op concatenate) {
  return ((const bool *)f->own)[concatenate];
}

static void note_inner(const ir_module *m, ir_op op, bool *is_inner) {
  if (ir_kind_of(m, op) != IR_OP_CONCATENATE) return;
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++) {
    ir_op inner = ir_maker(m, v, IR_OP_CONCATENATE);
    if (inner && dim_of(m, inner) == dim_of(m, op)) is_inner[inner] = true;
  }
}

static bool begin(pass_rewrite *f) {
  f->own = ARENA_ARRAY(f->p->scratch, bool, f->m->ops.count);
  for (ir_walk w = ir_walk_block(f->m, ir_top(f->m)); ir_next(&w);) note_inner(f->m, w.op, f->own);
  return true;
}

/* All of them, in order: jnp.stack puts sixteen together, and then these. Too many: at least MOST.
 */
static void find_parts(pass_rewrite *f, ir_op op, int depth, ir_values *parts) {
  for (ir_value v, i = 0; (v = ir_operand_at(f->m, op, i)) && parts->count < MOST; i++) {
    ir_op inner = ir_maker(f->m, v, IR_OP_CONCATENATE);
    if (depth && inner && is_inner(f, inner) && dim_of(f->m, inner) == dim_of(f->m, op))
      find_parts(f, inner, depth - 1, parts);
    else VEC_PUSH(f->p->scratch, parts, v);
  }
}

/* Where x begins in what `whole` is put together of; false: it is no part of that, or not found in
 * as many steps as are left. */
static bool find_within(const ir_module *m, ir_value whole, ir_value x, int *left, int64_t *at) {
  ir_op op = ir_maker(m, whole, IR_OP_CONCATENATE);
  int64_t before = 0;
  if (whole == x) return true;
  if (!op || !pass_is_static(m, op)) return false;
  int32_t dim = dim_of(m, op);
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)) && --*left > 0; i++) {
    if (find_within(m, v, x, left, at)) {
      at[dim] += before;
      return true;
    }
    before += ir_type_at(m, v)->dims[dim];
  }
  return false;
}

/* What the windows are parts of: those that lie in a part of it are read of that part. */
static ir_value largest_source(pass_rewrite *f, const ir_values *parts) {
  ir_value largest = IR_NONE, x;
  for (uint32_t i = 0; i < parts->count; i++) {
    starts_of(f->m, before_reshapes(f->m, parts->at[i]), &x);
    if (!largest || ir_value_bytes(f->m, x) > ir_value_bytes(f->m, largest)) largest = x;
  }
  return largest;
}

static bool add_window(pass_rewrite *f, stack *s, ir_value part) {
  ir_module *m = f->m;
  ir_value x, slice = before_reshapes(m, part);
  const int64_t *starts = starts_of(m, slice, &x);
  int32_t rank = ir_type_get(m, s->whole)->rank;
  int64_t *to = s->starts + s->count++ * rank;
  int left = STEPS;
  if (!s->window) s->window = ir_type_of(m, slice);
  if (ir_type_of(m, slice) != s->window || ir_type_at(m, x)->rank != rank ||
      ir_type_of(m, part) != ir_tensor_with_dim(m, s->parts, s->dim, 1) ||
      !find_within(m, s->x, x, &left, to))
    return false;
  for (int32_t d = 0; d < rank; d++) to[d] += starts[d];
  return true;
}

static bool find_windows(pass_rewrite *f, ir_op op, stack *s) {
  ir_module *m = f->m;
  ir_values parts = {0};
  find_parts(f, op, DEPTH, &parts);
  *s = (stack){.parts = ir_type_of(m, ir_result(m, op, 0)), .dim = dim_of(m, op)};
  s->x = largest_source(f, &parts);
  if (!s->x || parts.count < LEAST || parts.count != ir_type_get(m, s->parts)->dims[s->dim])
    return false;
  s->whole = ir_type_of(m, s->x);
  s->starts = ARENA_ARRAY(f->p->scratch, int64_t, parts.count * ir_type_get(m, s->whole)->rank + 1);
  for (uint32_t i = 0; i < parts.count; i++)
    if (!add_window(f, s, parts.at[i])) return false;
  return place(m, s);
}

static bool replace_concatenate(pass_rewrite *f, ir_op op) {
  stack s;
  if (!pass_is_static(f->m, op) || pass_has_foreign_attrs(f->m, op) || is_inner(f, op) ||
      ir_value_bytes(f->m, ir_result(f->m, op, 0)) <= f->small_bytes || !find_windows(f, op, &s))
    return false;
  return pass_stand_in(f->m, f->map, op, build_gather(f, &s));
}

/* ---- a sum of parts that are put back ---- */
/* What is added up, but for sums that others read, too; false: too much. */
static bool find_terms(pass_rewrite *f, ir_value sum, ir_values *terms) {
  ir_values open = {0};
  VEC_PUSH(f->p->scratch, &open, sum);
  while (open.count && open.count + terms->count <= MOST) {
    ir_value v = open.at[--open.count];
    ir_op op = ir_maker(f->m, v, IR_OP_ADD);
    if (!op || (v != sum && (v >= f->n_values || f->uses[v] != 1))) {
      VEC_PUSH(f->p->scratch, terms, v);
      continue;
    }
    for (uint32_t i = 0; i < 2; i++) VEC_PUSH(f->p->scratch, &open, ir_operand(f->m, op, i));
  }
  return !open.count && terms->count >= LEAST;
}

/* A part of y in the midst of zeros. */
typedef struct term {
  ir_value y, window;
  int32_t dim;
  int64_t index;
  const int64_t *low;
} term;

static bool find_term(ir_module *m, ir_value v, term *out) {
  ir_op pad = ir_maker(m, v, IR_OP_PAD);
  ir_ints low, high;
  if (!pad || !pass_is_static(m, pad) || !ir_pads_around(m, pad, &low, &high) ||
      !ir_is_zero(m, ir_operand(m, pad, 1)))
    return false;
  *out = (term){.window = ir_operand(m, pad, 0), .dim = -1, .low = low.at};
  ir_value part = before_reshapes(m, out->window);
  const int64_t *starts = starts_of(m, part, &out->y);
  const ir_type_data *t = ir_type_at(m, part);
  for (int32_t d = 0; d < t->rank; d++) {
    if (t->dims[d] == ir_type_at(m, out->y)->dims[d]) continue;
    if (out->dim >= 0 || t->dims[d] != 1) return false;
    out->dim = d;
    out->index = starts[d];
  }
  return out->dim >= 0;
}

static bool may_reorder(const ir_module *m, ir_value sum) {
  ir_dtype dtype = ir_type_at(m, sum)->dtype;
  return dtype != IR_I1 && (!ir_is_float(dtype) || ir_dtype_bytes(dtype) >= 4);
}

static stack stack_of(pass_rewrite *f, ir_value sum, const term *first) {
  ir_module *m = f->m;
  stack s = {.y = first->y, .dim = first->dim, .whole = ir_type_of(m, sum)};
  s.parts = ir_type_of(m, s.y);
  s.window = ir_type_of(m, first->window);
  s.count = ir_type_at(m, s.y)->dims[s.dim];
  s.starts = ARENA_ARRAY(f->p->scratch, int64_t, s.count * ir_type_at(m, sum)->rank + 1);
  return s;
}

/* The terms that put back parts of the first one's y, each of them once; the others go to rest. */
static bool collect(pass_rewrite *f, const ir_values *terms, const term *first, stack *s,
                    ir_values *rest) {
  ir_module *m = f->m;
  int32_t rank = ir_type_get(m, s->whole)->rank;
  bool *seen = ARENA_ARRAY(f->p->scratch, bool, s->count + 1);
  int64_t found = 0;
  for (uint32_t i = 0; i < terms->count; i++) {
    term t;
    if (!find_term(m, terms->at[i], &t) || t.y != first->y || t.dim != first->dim) {
      VEC_PUSH(f->p->scratch, rest, terms->at[i]);
      continue;
    }
    if (seen[t.index] || ir_type_of(m, t.window) != s->window) return false;
    seen[t.index] = true;
    found++;
    memcpy(s->starts + t.index * rank, t.low, sizeof *t.low * (size_t)rank);
  }
  return found == s->count;
}

static bool find_sum(pass_rewrite *f, ir_op op, stack *s, ir_values *rest) {
  ir_values terms = {0};
  term last;
  if (!find_term(f->m, ir_operand(f->m, op, 1), &last) &&
      !find_term(f->m, ir_operand(f->m, op, 0), &last))
    return false;
  *s = stack_of(f, ir_result(f->m, op, 0), &last);
  return s->count >= LEAST && find_terms(f, ir_result(f->m, op, 0), &terms) &&
         s->count <= terms.count && collect(f, &terms, &last, s, rest) && place(f->m, s);
}

static bool replace_add(pass_rewrite *f, ir_op op) {
  stack s;
  ir_values rest = {0};
  ir_value y = ir_result(f->m, op, 0);
  if (!pass_is_static(f->m, op) || pass_has_foreign_attrs(f->m, op) || !may_reorder(f->m, y) ||
      !find_sum(f, op, &s, &rest) || ir_value_bytes(f->m, s.y) <= f->small_bytes)
    return false;
  ir_value made = build_scatter(f, &s);
  for (uint32_t i = 0; i < rest.count; i++) made = ir_build_add(&f->b, rest.at[i], made);
  return pass_stand_in(f->m, f->map, op, made);
}

static bool replace(pass_rewrite *f, ir_op op) {
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_CONCATENATE: return replace_concatenate(f, op);
    case IR_OP_ADD: return replace_add(f, op);
    default: return false;
  }
}

const pass pass_stacks = {"stacks", .replace = replace, .begin = begin};
