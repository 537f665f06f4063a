/* topk: a sort of which only the first or last k are looked at -> chlo.top_k.
 *
 * Requires: a verified module, calls inlined. Breaks: nothing; what lost its uses stays for dce.
 * Identity: a stable sort by a total order on f(x) lists the k elements that come first, equal ones
 * by index. chlo.top_k(g) lists the k largest of g in XLA's total order (-NaN < -inf < -0 < +0 <
 * inf < NaN), equal ones by index. So the first k of the sort are top_k(g) with g = f(x) where the
 * sort descends and g = f(x) in reverse order (negated; integers: complemented) where it ascends.
 * The last k are, read from the end, the top k of the reversed tensor in the opposite order. f is
 * what the comparator makes of its left argument before it compares (JAX: all zeros become one, all
 * NaNs become one); it is done to the whole tensor, so ties stay ties.
 *   What was sorted comes back by index: iotas are made of the indices, the key itself is what
 * top_k gives if f changes nothing, anything else is gathered. A key that only has its NaNs and
 * zeros made one, and that can't be negative, is taken from top_k too: to the bit but for the sign
 * and payload of NaNs, which no one promises.
 *   Of a sort that is not stable any order of equal elements will do; this one takes the stable.
 * Also mhlo.topk and (on CPU, where it is exact) ApproxTopK, written as custom calls, become
 * chlo.top_k; ApproxTopK compares as floats, so what it does with NaNs is anyone's guess.
 * Left alone: comparators that are not `f(a_i) < f(b_i)` or `>` in a total order (floats compared
 * as floats: NaN; <=; several keys), results that anything but a slice looks at, k above a quarter
 * of the sorted length (XLA's partial sort of f32 wins up to a half), integers that are sorted
 * alone (XLA has a fast sort for these, top_k is a sort of pairs) unless they are few rows that
 * only their length can split; booleans, complex numbers, dynamic shapes. Source: eXLA's sort +
 * slice (Artemev et al. 2022); CHLO top_k; XLA's TopkRewriter goes the same way for comparators
 * that it knows.
 */
#include "ir/attrs.h"
#include "ir/maps.h"
#include "machine/tuned.h"
#include "pass/build.h"
#include "pass/order.h"

enum { LONGEST = 24 };

typedef struct finder {
  arena *scratch;
  ir_module *m;
  ir_map *map;    /* results of custom calls and slices -> what they are now */
  ir_map *replay; /* values of comparators -> tensors */
  bool changed;
} finder;

static const ir_type_data *type_of(const finder *f, ir_value v) { return ir_type_at(f->m, v); }

/* ---- what is known of operands ---- */
static bool holds_index(const finder *f, ir_value v, int64_t length) {
  ir_dtype d = type_of(f, v)->dtype;
  return pass_orders_integer(d) &&
         (ir_dtype_bytes(d) >= 4 || length <= (ir_dtype_bytes(d) == 1 ? 128 : 32768));
}

/* Element i along dim is i; where *out_down, length - 1 - i. */
static bool is_index(finder *f, ir_value v, int64_t dim, bool *out_down) {
  int64_t length = type_of(f, v)->dims[dim];
  *out_down = false;
  for (int steps = 0; steps < LONGEST; steps++) {
    ir_op op = ir_value_get(f->m, v)->op;
    if (!op || type_of(f, v)->dims[dim] != length || !holds_index(f, v, length)) return false;
    switch (ir_kind_of(f->m, op)) {
      case IR_OP_IOTA: return ir_op_int(f->m, op, "iota_dimension", -1) == dim;
      case IR_OP_CONVERT: break;
      case IR_OP_REVERSE: *out_down ^= ir_ints_have(ir_op_list(f->m, op, "dimensions"), dim); break;
      case IR_OP_BROADCAST_IN_DIM:
        dim = ir_moved_from(f->m, op, dim);
        if (dim == IR_ALONE) return false;
        break;
      default: return false;
    }
    v = ir_operand(f->m, op, 0);
  }
  return false;
}

static bool is_reverse_along(ir_module *m, ir_op op, int64_t dim) {
  if (ir_kind_of(m, op) != IR_OP_REVERSE) return false;
  ir_ints dims = ir_op_list(m, op, "dimensions");
  return dims.count == 1 && dims.at[0] == dim;
}

/* ---- building ---- */
/* x in reverse along dim; what was reversed before comes back as it was. */
static ir_value reversed(ir_builder *b, ir_value x, int64_t dim) {
  ir_op op = ir_value_get(b->m, x)->op;
  if (op && is_reverse_along(b->m, op, dim)) return ir_operand(b->m, op, 0);
  return pass_build_reverse(b, x, (ir_ints){1, &dim});
}

/* The comparator's value v with x in place of its argument. */
static ir_value replay(finder *f, ir_builder *b, ir_value v, ir_value x) {
  ir_module *m = f->m;
  if (ir_map_has(f->replay, v)) return ir_map_get(f->replay, v);
  ir_op op = ir_value_get(m, v)->op;
  ir_type type = ir_tensor_with_dtype(m, ir_type_of(m, x), ir_type_at(m, v)->dtype);
  const ir_attr_data *constant = pass_scalar_constant(f->m, v);
  if (constant) return ir_build_constant(b, type, constant->data);
  ir_value operands[4];
  uint32_t n = ir_op_get(m, op)->n_operands;
  CTX_CHECK(m->ctx, n <= sizeof operands / sizeof *operands);
  for (uint32_t i = 0; i < n; i++) operands[i] = replay(f, b, ir_operand(m, op, i), x);
  const ir_op_data d = *ir_op_get(m, op);
  ir_value copy = ir_build(b, (ir_kind)d.kind, n, operands, type, d.n_attrs, d.attrs);
  ir_map_set(f->replay, v, copy);
  return copy;
}

/* The same elements in the opposite order; its own inverse. */
static ir_value turned(ir_builder *b, ir_value x) {
  bool real = ir_is_common_float(ir_type_at(b->m, x)->dtype);
  return ir_build_unary(b, real ? IR_OP_NEGATE : IR_OP_NOT, x);
}

/* Zeros of either sign become +0. */
static ir_value without_signed_zeros(ir_builder *b, ir_value x) {
  ir_value zero = ir_build_splat_real(b, ir_type_of(b->m, x), 0);
  return ir_build_select(b, ir_build_compare(b, "EQ", x, zero), zero, x);
}

static ir_op build_top_k(ir_builder *b, ir_value x, int64_t k) {
  ir_module *m = b->m;
  int32_t last = ir_type_at(m, x)->rank - 1;
  CTX_CHECK(m->ctx, last >= 0 && 0 <= k && k <= ir_type_at(m, x)->dims[last]);
  ir_type values = ir_tensor_with_dim(m, ir_type_of(m, x), last, k);
  ir_type types[] = {values, ir_tensor_with_dtype(m, values, IR_I32)};
  ir_named_attr attr = ir_property(m, "k", ir_attr_int(m, k, IR_I64));
  return ir_build_op(b, IR_OP_CHLO_TOP_K, 1, &x, 2, types, 1, &attr, 0);
}

static ir_value count_down(ir_builder *b, ir_value at, int64_t length) {
  return ir_build_subtract(b, ir_build_int_like(b, at, length - 1), at);
}

/* ---- the rewrite ---- */
typedef struct best { /* the k elements at one end of a sort, the outermost first */
  const pass_sorted *s;
  const pass_order *o;
  int64_t k;
  bool from_end;      /* of the sort */
  const bool *needed; /* by array */
} best;

/* top_k's values, turned back, are the sorted key. */
static bool is_by_value(const finder *f, const best *w, uint32_t i) {
  if (i != w->o->key) return false;
  if (w->o->is_identity && !w->o->as_floats) return true;
  return w->o->keeps_value && ir_is_never_negative(f->m, ir_operand(f->m, w->s->op, i));
}

static bool needs_indices(const finder *f, const best *w) {
  for (uint32_t i = 0; i < w->s->n; i++)
    if (w->needed[i] && !is_by_value(f, w, i)) return true;
  return false;
}

/* The comparator's values stand for themselves again: another call may have the same one. */
static void forget_replay(finder *f, ir_block comparator) {
  for (ir_value arg, i = 0; (arg = ir_argument_at(f->m, comparator, i)); i++)
    ir_map_set(f->replay, arg, IR_NONE);
  for (ir_op op, i = 0; (op = ir_op_at(f->m, comparator, i)); i++)
    for (ir_value v, r = 0; (v = ir_result_at(f->m, op, r)); r++) ir_map_set(f->replay, v, IR_NONE);
}

static ir_value made_key(finder *f, ir_builder *b, const best *w, bool flip) {
  ir_value x = ir_operand(f->m, w->s->op, w->o->key);
  ir_value left = ir_argument(f->m, w->s->comparator, 2 * w->o->key);
  if (flip) x = reversed(b, x, w->s->dim);
  x = pass_build_moved(b, x, w->s->dim, type_of(f, x)->rank - 1);
  ir_map_set(f->replay, left, x);
  ir_value key = replay(f, b, w->o->by, x);
  forget_replay(f, w->s->comparator);
  if (w->o->as_floats) key = without_signed_zeros(b, key);
  return w->o->descending == w->from_end ? turned(b, key) : key;
}

static ir_value made_result(finder *f, ir_builder *b, const best *w, uint32_t i, ir_op top,
                            ir_value at) {
  int64_t dim = w->s->dim;
  ir_value x = ir_operand(f->m, w->s->op, i), made;
  int32_t last = type_of(f, x)->rank - 1;
  bool down;
  if (is_by_value(f, w, i)) {
    made = ir_result(f->m, top, 0);
    if (w->o->descending == w->from_end) made = turned(b, made);
  } else if (is_index(f, x, dim, &down)) {
    made = down ? count_down(b, at, w->s->length) : at;
    made = ir_build_convert(b, made, type_of(f, x)->dtype);
  } else {
    return ir_build_take_along(b, x, pass_build_moved(b, at, last, dim), dim);
  }
  return pass_build_moved(b, made, last, dim);
}

static void build_best(finder *f, ir_builder *b, const best *w, ir_value *out) {
  bool flip = w->from_end && needs_indices(f, w);
  ir_op top = build_top_k(b, made_key(f, b, w, flip), w->k);
  ir_value at = ir_result(f->m, top, 1);
  if (flip) at = count_down(b, at, w->s->length);
  for (uint32_t i = 0; i < w->s->n; i++)
    if (w->needed[i]) out[i] = made_result(f, b, w, i, top, at);
  f->changed = true;
}

/* ---- sort ---- */
typedef struct use {
  ir_op slice;
  uint32_t result;
  bool reversed;        /* it looks at the result in reverse */
  int64_t first, limit; /* of the sort, along its dimension */
} use;

typedef struct uses {
  VEC(use) list;
  int64_t first, limit; /* of all of them */
} uses;

static bool add_slice(finder *f, const pass_sorted *s, uses *all, use u) {
  if (ir_kind_of(f->m, u.slice) != IR_OP_SLICE) return false;
  int64_t first = ir_op_entry(f->m, u.slice, "start_indices", s->dim, 0);
  int64_t limit = ir_op_entry(f->m, u.slice, "limit_indices", s->dim, 0);
  u.first = u.reversed ? s->length - limit : first;
  u.limit = u.reversed ? s->length - first : limit;
  if (u.first < all->first) all->first = u.first;
  if (u.limit > all->limit) all->limit = u.limit;
  VEC_PUSH(f->scratch, &all->list, u);
  return true;
}

/* Whether all that looks at v, a result of the sort or its reverse, are slices, or reverse it. */
static bool add_readers(finder *f, const pass_sorted *s, const ir_users *users, ir_value v,
                        use like, uses *out) {
  for (ir_op op, i = 0; (op = ir_user_at(users, v, i)); i++) {
    use u = like;
    u.slice = op;
    u.reversed |= is_reverse_along(f->m, op, s->dim);
    bool turns = u.reversed && !like.reversed;
    if (turns ? !add_readers(f, s, users, ir_result(f->m, op, 0), u, out)
              : !add_slice(f, s, out, u))
      return false;
  }
  return true;
}

static bool find_uses(finder *f, const pass_sorted *s, const ir_users *users, uses *out) {
  *out = (uses){.first = s->length};
  for (uint32_t i = 0; i < s->n; i++)
    if (!add_readers(f, s, users, ir_result(f->m, s->op, i), (use){.result = i}, out)) return false;
  return out->list.count > 0 && out->limit > out->first;
}

/* The slice looks at `from`, which begins `off` later than what it looked at; where that is all of
 * it, no slice is needed. */
static void retarget(finder *f, const use *u, ir_value from, int64_t dim, int64_t off) {
  static const char *const names[] = {"start_indices", "limit_indices"};
  int64_t at[IR_MAX_RANK];
  for (int i = 0; i < 2; i++) {
    ir_ints old = ir_op_list(f->m, u->slice, names[i]);
    for (int32_t d = 0; d < old.count; d++) at[d] = old.at[d] - (d == dim ? off : 0);
    CTX_CHECK(f->m->ctx, at[dim] >= 0); /* what it reads begins no earlier */
    ir_op_set_attr(f->m, u->slice, names[i], ir_attr_i64s(f->m, at, old.count), true);
  }
  ir_op_get(f->m, u->slice)->operands[0] = from;
  ir_value cut = ir_result(f->m, u->slice, 0);
  if (ir_type_of(f->m, cut) == ir_type_of(f->m, from)) ir_map_set(f->map, cut, from);
}

/* A fast sort of XLA's, which top_k of the type has not, and other dimensions to split along. */
static bool is_better_sorted(const finder *f, const pass_sorted *s, const pass_order *o) {
  ir_value x = ir_operand(f->m, s->op, o->key);
  return s->n == 1 && pass_orders_integer(type_of(f, x)->dtype) &&
         ir_element_count(f->m, ir_type_of(f->m, x)) / s->length >= TUNED_SORTED_ROWS;
}

static bool read_sort(const finder *f, ir_op op, pass_sorted *out) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if (d->kind != IR_OP_SORT || !pass_is_static(f->m, op)) return false;
  const ir_type_data *t = type_of(f, d->operands[0]);
  int64_t dim = ir_op_int(f->m, op, "dimension", -1);
  if (dim < 0) dim += t->rank;
  *out = (pass_sorted){op, d->n_operands, dim, t->dims[dim], d->regions[0], false};
  return out->length > 0 && out->length <= INT32_MAX;
}

static void rewrite_sort(finder *f, const ir_users *users, ir_block block, ir_op op) {
  pass_sorted s;
  pass_order o;
  uses all;
  if (!read_sort(f, op, &s) || !find_uses(f, &s, users, &all) || !pass_read_order(f->m, &s, &o))
    return;
  bool from_end = all.limit > s.length - all.first;
  int64_t k = from_end ? s.length - all.first : all.limit;
  if (k > s.length / TUNED_TOP_K_SHARE || is_better_sorted(f, &s, &o)) return;
  bool *needed = ARENA_ARRAY(f->scratch, bool, s.n);
  ir_value *found = ARENA_ARRAY(f->scratch, ir_value, s.n);
  for (uint32_t i = 0; i < s.n; i++) needed[i] = false;
  for (uint32_t i = 0; i < all.list.count; i++) needed[all.list.at[i].result] = true;
  ir_builder b = {f->m, block, ir_op_get(f->m, op)->location};
  build_best(f, &b, &(best){&s, &o, k, from_end, needed}, found);
  for (const use *u = all.list.at; u < VEC_END(all.list); u++) {
    bool flip = u->reversed != from_end;
    ir_value from = flip ? reversed(&b, found[u->result], s.dim) : found[u->result];
    retarget(f, u, from, s.dim, flip ? s.length - k : 0);
  }
}

/* ---- custom calls ---- */
static const ir_attr_data *entry(const finder *f, ir_op op, const char *dict, const char *name) {
  ir_attr a = ir_dict_get(f->m, ir_op_attr(f->m, op, dict), name);
  return a ? ir_attr_get(f->m, a) : NULL;
}

static bool says(const finder *f, ir_op op, const char *dict, const char *name, bool wanted) {
  const ir_attr_data *d = entry(f, op, dict, name);
  return d && d->kind == IR_ATTR_BOOL && d->boolean == wanted;
}

static bool has_shape(const finder *f, ir_value v, ir_value x, int64_t dim, int64_t k) {
  ir_type type = ir_tensor_with_dim(f->m, ir_type_of(f->m, x), (int32_t)dim, k);
  return ir_same_dims(type_of(f, v), ir_type_get(f->m, type));
}

/* mhlo.topk(x) {k, largest}: values and indices along the last dimension. */
static bool rewrite_mhlo_topk(finder *f, ir_block block, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  const ir_attr_data *k = entry(f, op, "mhlo.attributes", "k");
  if (d->n_operands != 1 || d->n_results != 2 || !k || k->kind != IR_ATTR_INT) return false;
  ir_value x = d->operands[0], values = d->first_result, indices = values + 1;
  int32_t last = type_of(f, x)->rank - 1;
  bool smallest = says(f, op, "mhlo.attributes", "largest", false);
  int64_t wanted = k->integer;
  if (last < 0 ||
      !(ir_is_common_float(type_of(f, x)->dtype) || pass_orders_integer(type_of(f, x)->dtype)) ||
      wanted < 0 || wanted > type_of(f, x)->dims[last] ||
      type_of(f, values)->dtype != type_of(f, x)->dtype || type_of(f, indices)->dtype != IR_I32 ||
      !has_shape(f, values, x, last, wanted) || !has_shape(f, indices, x, last, wanted))
    return false;
  ir_builder b = {f->m, block, d->location};
  ir_op top = build_top_k(&b, smallest ? turned(&b, x) : x, wanted);
  ir_value found = ir_result(f->m, top, 0);
  ir_map_set(f->map, values, smallest ? turned(&b, found) : found);
  ir_map_set(f->map, indices, ir_result(f->m, top, 1));
  return true;
}

static ir_block called(const finder *f, ir_op op) {
  const ir_attr_data *d = ir_op_attr_of(f->m, op, "called_computations", IR_ATTR_ARRAY);
  if (!d || d->count != 1) return IR_NONE;
  d = ir_attr_get(f->m, d->items[0]);
  ir_op callee =
      d->kind == IR_ATTR_SYMBOL ? ir_find_function(f->m, ir_text(f->m, d->text)) : IR_NONE;
  return callee && ir_op_get(f->m, callee)->n_regions ? ir_body(f->m, callee) : IR_NONE;
}

/* ApproxTopK(x.., init..) where it falls back to a sort. */
static bool read_approx(const finder *f, ir_op op, pass_sorted *out, int64_t *out_k) {
  static const char dict[] = "mhlo.backend_config";
  const ir_op_data *d = ir_op_get(f->m, op);
  const ir_attr_data *k = entry(f, op, dict, "top_k"), *dim = entry(f, op, dict, "reduction_dim");
  ir_block body = called(f, op);
  if (!k || k->kind != IR_ATTR_INT || !dim || dim->kind != IR_ATTR_INT || !body) return false;
  if (!says(f, op, dict, "is_fallback", true) || !says(f, op, dict, "aggregate_to_topk", true))
    return false;
  if (!d->n_results || d->n_operands != 2 * d->n_results) return false;
  const ir_type_data *t = type_of(f, d->operands[0]);
  int64_t along = dim->integer < 0 ? dim->integer + t->rank : dim->integer;
  if (along < 0 || along >= t->rank) return false;
  *out = (pass_sorted){op, d->n_results, along, t->dims[along], body, true};
  *out_k = k->integer;
  for (uint32_t i = 0; i < out->n; i++)
    if (!has_shape(f, d->first_result + i, d->operands[i], along, *out_k)) return false;
  return *out_k > 0 && *out_k <= out->length && out->length <= INT32_MAX;
}

static bool rewrite_approx(finder *f, ir_block block, ir_op op) {
  pass_sorted s;
  pass_order o;
  int64_t k;
  if (!read_approx(f, op, &s, &k) || !pass_read_order(f->m, &s, &o)) return false;
  bool *needed = ARENA_ARRAY(f->scratch, bool, s.n);
  ir_value *found = ARENA_ARRAY(f->scratch, ir_value, s.n);
  for (uint32_t i = 0; i < s.n; i++) needed[i] = true;
  ir_builder b = {f->m, block, ir_op_get(f->m, op)->location};
  build_best(f, &b, &(best){&s, &o, k, false, needed}, found);
  for (uint32_t i = 0; i < s.n; i++) ir_map_set(f->map, ir_result(f->m, op, i), found[i]);
  return true;
}

static bool rewrite_custom_call(finder *f, ir_block block, ir_op op) {
  const char *target = ir_op_string(f->m, op, "call_target_name");
  if (!target || !pass_is_static(f->m, op) || ir_has_effects(f->m, op)) return false;
  if (!strcmp(target, "mhlo.topk")) return rewrite_mhlo_topk(f, block, op);
  return !strcmp(target, "ApproxTopK") && rewrite_approx(f, block, op);
}

/* ---- the walk ---- */
static bool has_sort(const ir_module *m, ir_block block) {
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    if (ir_kind_of(m, op) == IR_OP_SORT) return true;
  return false;
}

static void visit_block(finder *f, ir_block block) {
  ir_users users = {0};
  if (has_sort(f->m, block)) users = ir_users_of_block(f->scratch, f->m, block);
  ir_ops ops = ir_take_ops(f->m, block);
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    ir_kind kind = ir_kind_of(f->m, op);
    for (ir_block below, r = 0; (below = ir_next_block(f->m, op, &r));) visit_block(f, below);
    if (kind == IR_OP_CUSTOM_CALL && rewrite_custom_call(f, block, op)) f->changed = true;
    else ir_block_append(f->m, block, op);
    if (kind == IR_OP_SORT) rewrite_sort(f, &users, block, op);
  }
}

static weir_status run(pass_ctx *p, ir_module *m) {
  finder f = {.scratch = p->scratch,
              .m = m,
              .map = ir_map_new(p->scratch, m),
              .replay = ir_map_new(p->scratch, m)};
  ir_block top = ir_top(m);
  visit_block(&f, top);
  if (f.changed) ir_replace_uses(m, top, f.map);
  p->changed = f.changed;
  return WEIR_OK;
}

const pass pass_topk = {"topk", run};
