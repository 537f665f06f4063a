/* listed: what is computed for a list of the places where a mask is set is computed for every
 * place.
 *
 *   i = places(mask), L of them      (jnp.nonzero(size=L), triu_indices, tril_indices, d[mask])
 *   sum_k f(i_k)   =  sum_p mask_p f(p)       + (L - count) f(P)
 *   [f(i_k)]_k     =  scatter(f(P), c_p - 1, f(p) where mask_p)
 *
 * P places, c the prefix sum of the mask. JAX spells the list cumsum(bincount(c, length=L)): i_k is
 * how many places p have c_p <= k, which is the place of the k-th that is set, and P behind the
 * last. So neither the list nor what is made of it is a tensor: everything goes place by place, in
 * the order of what the mask was made of. What else has one element for each entry (f may read x_k)
 * is read at k = c_p - 1.
 *
 * The list's members are ops that have its dimension as one of their indices, from i on. Readers
 * that sum over it (reductions, products), or scatter its entries, are made of members at places;
 * any other is handed the list, put together by a scatter. Behind the last entry all members are
 * alike unless they read x_k (`steady`): then they are made once. A while of a few trips that reads
 * entries (searchsorted: which bin) is written as what its trips do.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Sums of floats
 * are rounded in another order; a mask that sets fewer than L adds up what stands behind it as a
 * product. Elements that the mask leaves out are computed, too, and dropped, whatever they are.
 * Left alone: lists that are small against the limit, or a sixteenth of the places and less, where
 * computing all would be more work than memory is worth. Cost: linear.
 * Source: stream compaction (Blelloch 1990) read backwards.
 */
#include "base/saturate.h"
#include "pass/along.h"
#include "pass/build.h"
#include "pass/ranges.h"

enum { MOST_PLACES = 16 /* for each entry */, MOST_STEPS = 16 };
enum { MOST_DEPTH = 1000 }; /* of members made of members: each is a call deep */

typedef struct member { /* by value */
  bool steady;          /* all entries behind the last are alike */
  int32_t depth;        /* of members that it is made of, one out of the other */
  ir_value at_places, behind;
} member;

typedef struct lister {
  pass_ctx *p;
  ir_module *m;
  ir_map *map;
  pass_bounds ranges;
  ir_builder b;
  ir_value list, mask, counts; /* of L, P, P elements */
  int64_t length, places;
  pass_along along; /* the list's members */
  member *members;
  ir_value is_entry, count, is_behind, entry; /* made when they are first asked for */
  ir_value first_written;                     /* of the values that trips make, written as ops */
} lister;

static const ir_type_data *type_of(const lister *f, ir_value v) { return ir_type_at(f->m, v); }
static bool is_member(const lister *f, ir_value v) { return pass_dim_along(&f->along, v) >= 0; }

/* ---- the list ---- */
static bool is_int_line(const lister *f, ir_value v) {
  ir_dtype d = type_of(f, v)->dtype;
  return type_of(f, v)->rank == 1 && ir_is_static_tensor(f->m, ir_type_of(f->m, v)) &&
         (d == IR_I32 || d == IR_I64);
}

/* x, of a sum of all elements up to each, of a line. */
static ir_value summed_up(const lister *f, ir_value v) {
  ir_op op = ir_maker(f->m, v, IR_OP_REDUCE_WINDOW);
  if (!op || !is_int_line(f, v) || !ir_adds_up(f->m, op)) return IR_NONE;
  return ir_prefix_along(f->m, op, 0) > 0 ? ir_operand(f->m, op, 0) : IR_NONE;
}

/* A conversion of integers that all fit. */
static bool keeps_numbers(const lister *f, ir_op op) {
  if (ir_kind_of(f->m, op) != IR_OP_CONVERT) return false;
  pass_range x = pass_range_of(&f->ranges, ir_operand(f->m, op, 0)),
             y = pass_range_of(&f->ranges, ir_result(f->m, op, 0));
  return x.lo == y.lo && x.hi == y.hi &&
         ir_dtype_class_of(type_of(f, ir_operand(f->m, op, 0))->dtype) == IR_CLASS_INT;
}

/* The integers that v's are, in a line: looked through are moves of a line and what does nothing to
 * numbers in their range. */
static ir_value line_of(const lister *f, ir_value v) {
  for (int step = 0; step < MOST_STEPS; step++) {
    ir_op op = ir_value_get(f->m, v)->op;
    if (!op || ir_kind_of(f->m, op) == IR_OP_REDUCE_WINDOW) return v;
    ir_value same = pass_bounds_forward(&f->ranges, op);
    bool moves = ir_kind_of(f->m, op) == IR_OP_RESHAPE ||
                 (ir_kind_of(f->m, op) == IR_OP_BROADCAST_IN_DIM &&
                  ir_element_count(f->m, ir_type_of(f->m, v)) ==
                      ir_element_count(f->m, ir_type_of(f->m, ir_operand(f->m, op, 0))));
    if (!same && (moves || keeps_numbers(f, op))) same = ir_operand(f->m, op, 0);
    if (!same) return v;
    v = same;
  }
  return v;
}

static bool counts_ones(const lister *f, ir_op op) {
  int64_t one;
  pass_entries v;
  return pass_find_entries(f->p->scratch, f->m, op, &v) && v.kind == IR_OP_ADD &&
         ir_is_zero(f->m, v.x) && ir_splat_int(f->m, v.part, &one) && one == 1 &&
         v.n.collapsed_slice_dims.count == 1 && v.n.start_index_map.count == 1 &&
         v.n.offset_dims.count == 0 && type_of(f, v.part)->rank == 1;
}

/* Whether the op makes the places where a mask is set. */
static bool find_list(lister *f, ir_op op) {
  ir_value v = ir_op_get(f->m, op)->n_results == 1 ? ir_result(f->m, op, 0) : IR_NONE;
  ir_value bins = v ? summed_up(f, v) : IR_NONE;
  ir_op scatter = bins ? ir_maker(f->m, bins, IR_OP_SCATTER) : IR_NONE;
  if (!scatter || !counts_ones(f, scatter)) return false;
  f->list = v;
  f->counts = line_of(f, ir_operand(f->m, scatter, 1));
  f->mask = summed_up(f, f->counts);
  if (!f->mask) return false;
  pass_range ones = pass_range_of(&f->ranges, f->mask);
  f->length = type_of(f, v)->dims[0];
  f->places = type_of(f, f->mask)->dims[0];
  return ones.lo >= 0 && ones.hi <= 1 && f->length <= f->places &&
         f->places / MOST_PLACES < f->length && f->places < INT32_MAX &&
         f->places == type_of(f, ir_operand(f->m, scatter, 2))->dims[0] &&
         ir_value_bytes(f->m, v) > pass_small_bytes(f->p->options);
}

/* ---- its members ---- */
/* What was moved, or converted from one integer to another. */
static ir_value unmoved(const lister *f, ir_value v) {
  for (int step = 0; step < MOST_STEPS; step++) {
    ir_op op = ir_value_get(f->m, v)->op;
    ir_kind k = op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN;
    if (k != IR_OP_CONVERT && k != IR_OP_RESHAPE && k != IR_OP_BROADCAST_IN_DIM) break;
    v = ir_operand(f->m, op, 0);
  }
  return v;
}

/* How many places the mask sets. */
static bool is_count(const lister *f, ir_value v) {
  ir_op op = ir_maker(f->m, unmoved(f, v), IR_OP_REDUCE);
  if (!op || !ir_adds_up(f->m, op)) return false;
  int32_t n = ir_op_list(f->m, op, "dimensions").count;
  ir_value x = ir_operand(f->m, op, 0);
  return n == type_of(f, x)->rank && ir_element_count(f->m, ir_type_of(f->m, x)) == f->places &&
         ir_dtype_class_of(type_of(f, x)->dtype) == IR_CLASS_INT &&
         ir_dtype_bytes(type_of(f, x)->dtype) >= 4 && unmoved(f, x) == unmoved(f, f->mask);
}

/* What v is along the dimension, and in all others alike: a line that was only moved. */
static ir_value line_along(const lister *f, ir_value v, int32_t along) {
  for (int step = 0; step < MOST_STEPS && type_of(f, v)->rank > 1; step++) {
    ir_op op = ir_value_get(f->m, v)->op;
    ir_kind k = op ? ir_kind_of(f->m, op) : IR_OP_UNKNOWN;
    bool moves = ir_is_move(k);
    int32_t from = moves && pass_is_static(f->m, op) ? ir_moved_from(f->m, op, along) : IR_ALONE;
    if (from == IR_ALONE ||
        type_of(f, ir_operand(f->m, op, 0))->dims[from] != type_of(f, v)->dims[along])
      return IR_NONE;
    v = ir_operand(f->m, op, 0);
    along = from;
  }
  return type_of(f, v)->rank == 1 ? v : IR_NONE;
}

/* k >= count: false of all entries, true behind the last; k < count the other way round. */
static bool tells_ends(const lister *f, ir_value v, int32_t along, bool *out_behind) {
  ir_value line = line_along(f, v, along);
  ir_direction direction;
  ir_op op = line ? ir_comparison(f->m, line, &direction) : IR_NONE;
  if (!op || (direction != IR_GE && direction != IR_LT)) return false;
  *out_behind = direction == IR_GE;
  return pass_counted_dim(f->m, ir_operand(f->m, op, 0)) == 0 &&
         is_count(f, ir_operand(f->m, op, 1));
}

/* The list's dimension is broadcast, or all of the value is one number. */
static bool is_alike_along(const lister *f, ir_value v, int32_t along) {
  bool behind;
  return pass_is_alike_along(f->m, v, along) || tells_ends(f, v, along, &behind);
}

static bool is_steady(const lister *f, ir_op op, int32_t index) {
  for (ir_value v, i = 0; (v = ir_operand_at(f->m, op, i)); i++) {
    int32_t along = pass_operand_along(&f->along, op, i, index);
    if (is_member(f, v) ? !f->members[v].steady : along >= 0 && !is_alike_along(f, v, along))
      return false;
  }
  return true;
}

/* Of the members that it reads, the deepest; -1: it reads none. */
static int32_t depth_read(const lister *f, ir_op op) {
  int32_t depth = -1;
  for (ir_value v, i = 0; (v = ir_operand_at(f->m, op, i)); i++) {
    if (is_member(f, v) && f->members[v].depth > depth) depth = f->members[v].depth;
  }
  return depth;
}

/* The dimension of what a trip makes, alike for all entries, of what is: its first middle. */
static int32_t alike_along(const lister *f, ir_op op) {
  ir_value v = ir_op_get(f->m, op)->n_results == 1 ? ir_result(f->m, op, 0) : IR_NONE;
  if (v < f->first_written || !ir_is_elementwise(ir_kind_of(f->m, op))) return IR_ALONE;
  for (int32_t d = 0; d < type_of(f, v)->rank; d++)
    if (type_of(f, v)->dims[d] == f->length && is_steady(f, op, d)) return d;
  return IR_ALONE;
}

static void add_member(lister *f, ir_op op) {
  int32_t depth = depth_read(f, op), along = IR_ALONE;
  if (depth < 0) along = alike_along(f, op);
  else if (depth < MOST_DEPTH) along = pass_result_along(&f->along, op);
  if (along == IR_ALONE) return;
  ir_value v = ir_result(f->m, op, 0);
  f->along.dims[v] = along;
  f->members[v] = (member){.steady = is_steady(f, op, along), .depth = depth + 1};
}

static void find_members(lister *f, const ir_ops *ops) {
  f->along = pass_along_new(f->p->scratch, f->m);
  f->members = ARENA_ARRAY(f->p->scratch, member, f->along.n_values);
  f->along.dims[f->list] = 0;
  f->members[f->list] = (member){.steady = true};
  for (uint32_t i = 0; i < ops->count; i++) add_member(f, ops->at[i]);
}

/* ---- what places and entries are ---- */
static ir_type line(const lister *f, ir_dtype d, int64_t n) { return ir_tensor(f->m, d, 1, &n); }
static ir_type with_length(const lister *f, ir_value v, int32_t along, int64_t n) {
  return ir_tensor_with_dim(f->m, ir_type_of(f->m, v), along, n);
}
/* Place p's entry; what the mask leaves out has some other. */
static ir_value entry_of_place(lister *f) {
  if (!f->entry)
    f->entry = ir_build_subtract(&f->b, f->counts, ir_build_int_like(&f->b, f->counts, 1));
  return f->entry;
}

/* i1, P: it is in the list. */
static ir_value is_entry(lister *f) {
  if (f->is_entry) return f->is_entry;
  ir_value set = type_of(f, f->mask)->dtype == IR_I1
                     ? f->mask
                     : ir_build_compare(&f->b, "GT", f->mask, ir_build_int_like(&f->b, f->mask, 0));
  ir_value fits =
      ir_build_compare(&f->b, "LE", f->counts, ir_build_int_like(&f->b, f->counts, f->length));
  return f->is_entry = ir_build_binary(&f->b, IR_OP_AND, set, fits);
}

/* How many entries there are: no more than L, a number of the counts' type. */
static ir_value count(lister *f) {
  if (f->count) return f->count;
  ir_value all = ir_build_sum(&f->b, f->mask, (int64_t[]){0}, 1);
  ir_value most = ir_build_int_like(&f->b, all, f->length);
  return f->count = ir_build_binary(&f->b, IR_OP_MINIMUM, all, most);
}

/* i1, L: the entry is behind the last. */
static ir_value is_behind(lister *f) {
  if (f->is_behind) return f->is_behind;
  ir_type type = line(f, type_of(f, f->counts)->dtype, f->length);
  ir_value n = ir_build_broadcast(&f->b, count(f), type, NULL);
  return f->is_behind = ir_build_compare(&f->b, "GE", ir_build_iota(&f->b, type, 0), n);
}

/* i1 like v, of a line along v's dimension. */
static ir_value spread(lister *f, ir_value truth, ir_value v, int32_t along) {
  ir_type type = ir_tensor_with_dtype(f->m, ir_type_of(f->m, v), IR_I1);
  return ir_build_broadcast(&f->b, truth, type, (int64_t[]){along});
}

/* ---- members at places, and behind the last entry ---- */
typedef enum side { AT_PLACES, BEHIND } side;

static ir_value made(lister *f, ir_value v, side where);

static ir_value resized(lister *f, ir_value v, int32_t along, int64_t n) {
  ir_op op = ir_value_get(f->m, v)->op;
  ir_type type = with_length(f, v, along, n);
  if (ir_kind_of(f->m, op) == IR_OP_BROADCAST_IN_DIM) {
    ir_value x = ir_operand(f->m, op, 0);
    return ir_result(f->m, ir_build_again(&f->b, op, &x, &type), 0);
  }
  ir_attr_data d = *ir_attr_get(f->m, ir_op_attr(f->m, op, "value"));
  return ir_build_constant(&f->b, type, d.data);
}

static ir_value counted(lister *f, ir_value v, side where) {
  ir_dtype d = type_of(f, v)->dtype;
  if (where == AT_PLACES) return ir_build_convert(&f->b, entry_of_place(f), d);
  return v;
}

/* What is no member, along the list's dimension. */
static ir_value foreign(lister *f, ir_value v, int32_t along, side where, bool once) {
  if (along < 0) return v;
  int64_t length = where == AT_PLACES ? f->places : once ? 1 : f->length;
  bool behind;
  if (tells_ends(f, v, along, &behind))
    return ir_build_splat_int(&f->b, with_length(f, v, along, length), (where == BEHIND) == behind);
  if (is_alike_along(f, v, along)) return resized(f, v, along, length);
  if (type_of(f, v)->rank == 1 && pass_counted_dim(f->m, v) == 0) return counted(f, v, where);
  return where == AT_PLACES ? ir_build_rows(&f->b, v, along, entry_of_place(f)) : v;
}

/* As many times as there are entries. */
static ir_value repeated(lister *f, ir_value v, int32_t along) {
  ir_type type = with_length(f, v, along, f->length);
  return ir_build_broadcast(&f->b, v, type, ir_all_dims);
}

static ir_value operand_of(lister *f, ir_op op, uint32_t i, int32_t index, side where, bool once) {
  ir_value v = ir_operand(f->m, op, i);
  if (!is_member(f, v))
    return foreign(f, v, pass_operand_along(&f->along, op, i, index), where, once);
  ir_value x = made(f, v, where);
  bool repeats = where == BEHIND && f->members[v].steady && !once;
  return repeats ? repeated(f, x, f->along.dims[v]) : x;
}

/* The same part of x, which has another length along the list's dimension; of that, all. */
static ir_value sliced(lister *f, ir_op op, ir_value x, int32_t along) {
  int64_t start[IR_MAX_RANK], limit[IR_MAX_RANK], strides[IR_MAX_RANK];
  for (int32_t d = 0; d < type_of(f, x)->rank; d++) {
    start[d] = d == along ? 0 : ir_op_list(f->m, op, "start_indices").at[d];
    limit[d] = d == along ? type_of(f, x)->dims[d] : ir_op_list(f->m, op, "limit_indices").at[d];
    strides[d] = d == along ? 1 : ir_op_list(f->m, op, "strides").at[d];
  }
  return ir_build_slice(&f->b, x, start, limit, strides);
}

static ir_value made_again(lister *f, ir_value v, side where) {
  ir_op op = ir_value_get(f->m, v)->op;
  bool once = f->members[v].steady;
  int32_t index = f->along.dims[v];
  uint32_t n = ir_op_get(f->m, op)->n_operands;
  ir_value *operands = ARENA_ARRAY(f->p->scratch, ir_value, n);
  for (uint32_t i = 0; i < n; i++) operands[i] = operand_of(f, op, i, index, where, once);
  if (ir_kind_of(f->m, op) == IR_OP_SLICE) return sliced(f, op, operands[0], index);
  int64_t length = where == AT_PLACES ? f->places : once ? 1 : f->length;
  ir_type type = with_length(f, v, f->along.dims[v], length);
  return ir_result(f->m, ir_build_again(&f->b, op, operands, &type), 0);
}

static ir_value made_list(lister *f, side where) {
  ir_dtype d = type_of(f, f->list)->dtype;
  if (where == BEHIND) return ir_build_splat_int(&f->b, line(f, d, 1), f->places);
  return ir_build_iota(&f->b, line(f, d, f->places), 0);
}

static ir_value made(lister *f, ir_value v, side where) {
  CTX_CHECK(f->m->ctx, is_member(f, v));
  ir_value *known = where == AT_PLACES ? &f->members[v].at_places : &f->members[v].behind;
  if (!*known) {
    ir_value x = v == f->list ? made_list(f, where) : made_again(f, v, where);
    known = where == AT_PLACES ? &f->members[v].at_places : &f->members[v].behind;
    *known = x;
  }
  return *known;
}

/* ---- readers ---- */
/* The scalar that adds nothing; of what may count twice, what the sum begins with. */
static ir_value nothing(lister *f, ir_kind kind, ir_value initial) {
  bool counts = kind == IR_OP_ADD || kind == IR_OP_XOR;
  return counts ? ir_build_int_like(&f->b, initial, 0) : initial;
}

static ir_value where_true(lister *f, ir_value truth, ir_value v, int32_t along, ir_value other) {
  ir_value rest = ir_build_broadcast(&f->b, other, ir_type_of(f->m, v), NULL);
  return ir_build_select(&f->b, spread(f, truth, v, along), v, rest);
}

static bool may_reduce(const lister *f, ir_op op) {
  ir_kind k = ir_reducer_kind(f->m, ir_body(f->m, op));
  return ir_op_get(f->m, op)->n_operands == 2 && pass_is_static(f->m, op) && k != IR_OP_UNKNOWN &&
         k != IR_OP_MULTIPLY && k != IR_OP_XOR &&
         type_of(f, ir_operand(f->m, op, 0))->dtype == type_of(f, ir_result(f->m, op, 0))->dtype &&
         !ir_is_complex(type_of(f, ir_operand(f->m, op, 0))->dtype);
}

static ir_value with_ends(lister *f, ir_value v, int32_t along, side where) {
  ir_value x = made(f, v, where);
  bool repeats = where == BEHIND && f->members[v].steady;
  return repeats ? repeated(f, x, along) : x;
}

/* x, n times; counts may be beyond what 16 bits hold. */
static ir_value multiple(lister *f, ir_value x, ir_value n) {
  ir_dtype d = type_of(f, x)->dtype;
  bool is_narrow = ir_is_float(d) && ir_dtype_bytes(d) < 4;
  x = ir_build_convert(&f->b, x, is_narrow ? IR_F32 : d);
  n = ir_build_convert(&f->b, n, type_of(f, x)->dtype);
  n = ir_build_broadcast(&f->b, n, ir_type_of(f->m, x), NULL);
  return ir_build_convert(&f->b, ir_build_multiply(&f->b, x, n), d);
}

/* Of a value that is alike for all entries behind the last: that, so many times. */
static ir_value times(lister *f, ir_kind kind, ir_value x, ir_value none) {
  ir_type type = ir_type_of(f->m, x);
  ir_value full = ir_build_splat_int(&f->b, ir_type_of(f->m, count(f)), f->length);
  ir_value some = ir_build_compare(&f->b, "LT", count(f), full);
  if (kind == IR_OP_ADD) x = multiple(f, x, ir_build_subtract(&f->b, full, count(f)));
  some = ir_build_broadcast(&f->b, some, ir_tensor_with_dtype(f->m, type, IR_I1), NULL);
  return ir_build_select(&f->b, some, x, ir_build_broadcast(&f->b, none, type, NULL));
}

static ir_value reduced(lister *f, ir_op op, ir_value x, ir_value initial) {
  ir_type type = ir_type_of(f->m, ir_result(f->m, op, 0));
  return ir_result(f->m, ir_build_again(&f->b, op, (ir_value[]){x, initial}, &type), 0);
}

static bool replace_reduce(lister *f, ir_op op) {
  ir_value v = ir_operand(f->m, op, 0), initial = ir_operand(f->m, op, 1);
  if (!may_reduce(f, op) || !is_member(f, v)) return false;
  ir_kind kind = ir_reducer_kind(f->m, ir_body(f->m, op));
  int32_t along = f->along.dims[v];
  ir_value none = nothing(f, kind, initial);
  ir_value x = where_true(f, is_entry(f), made(f, v, AT_PLACES), along, none), behind;
  if (f->members[v].steady) behind = times(f, kind, reduced(f, op, made(f, v, BEHIND), none), none);
  else behind = reduced(f, op, where_true(f, is_behind(f), made(f, v, BEHIND), along, none), none);
  ir_value y = ir_build_binary(&f->b, kind, reduced(f, op, x, initial), behind);
  ir_map_set(f->map, ir_result(f->m, op, 0), y);
  return true;
}

/* A product that sums over the list. */
static bool may_multiply(const lister *f, ir_op op, int32_t index) {
  ir_dtype_class c = ir_dtype_class_of(type_of(f, ir_result(f->m, op, 0))->dtype);
  return index >= type_of(f, ir_result(f->m, op, 0))->rank && pass_is_static(f->m, op) &&
         (c == IR_CLASS_INT || c == IR_CLASS_UINT || c == IR_CLASS_FLOAT);
}

/* Zeros for the entries that are not the side's: of both operands, as no number times 0 is NaN. */
static ir_value multiplied(lister *f, ir_op op, int32_t index, side where, bool once) {
  ir_value x[2];
  for (uint32_t i = 0; i < 2; i++) {
    int32_t along = pass_operand_along(&f->along, op, i, index);
    x[i] = operand_of(f, op, i, index, where, once);
    ir_value zero = ir_build_splat_int(&f->b, ir_scalar(f->m, type_of(f, x[i])->dtype), 0);
    ir_value truth = once ? IR_NONE : where == AT_PLACES ? is_entry(f) : is_behind(f);
    if (truth) x[i] = where_true(f, truth, x[i], along, zero);
  }
  ir_type type = ir_type_of(f->m, ir_result(f->m, op, 0));
  return ir_result(f->m, ir_build_again(&f->b, op, x, &type), 0);
}

static bool replace_product(lister *f, ir_op op) {
  int32_t index = pass_index_along(&f->along, op);
  if (!may_multiply(f, op, index)) return false;
  ir_dtype d = type_of(f, ir_result(f->m, op, 0))->dtype;
  bool once = is_steady(f, op, index);
  ir_value x = multiplied(f, op, index, AT_PLACES, false),
           behind = multiplied(f, op, index, BEHIND, once);
  if (once) behind = times(f, IR_OP_ADD, behind, ir_build_splat_int(&f->b, ir_scalar(f->m, d), 0));
  ir_map_set(f->map, ir_result(f->m, op, 0), ir_build_add(&f->b, x, behind));
  return true;
}

/* A scatter of the list's entries: those left out add nothing, or go to no place. */
typedef struct scattering {
  ir_op op;
  int32_t index_along, update_along;
  bool adds;
} scattering;

static bool find_scattering(const lister *f, ir_op op, scattering *out) {
  pass_entries v;
  if (!pass_find_entries(f->p->scratch, f->m, op, &v) || v.n.operand_batching_dims.count ||
      is_member(f, v.x) || !is_member(f, v.indices))
    return false;
  int32_t along = f->along.dims[v.indices];
  if (along == v.n.index_vector_dim) return false;
  int32_t d = ir_entry_dim(&v.n, along);
  *out = (scattering){op, along, d, v.kind == IR_OP_ADD};
  return !is_member(f, v.part) || f->along.dims[v.part] == d;
}

static ir_value updates_of(lister *f, const scattering *s, side where) {
  ir_value u = ir_operand(f->m, s->op, 2);
  return is_member(f, u) ? with_ends(f, u, s->update_along, where)
                         : foreign(f, u, s->update_along, where, false);
}

static ir_value scattered(lister *f, const scattering *s, ir_value x, side where) {
  ir_value at = with_ends(f, ir_operand(f->m, s->op, 1), s->index_along, where);
  ir_value u = updates_of(f, s, where), truth = where == AT_PLACES ? is_entry(f) : is_behind(f);
  ir_value zero = ir_build_splat_int(&f->b, ir_scalar(f->m, type_of(f, u)->dtype), 0);
  ir_value nowhere = ir_build_splat_int(&f->b, ir_scalar(f->m, type_of(f, at)->dtype), -1);
  if (s->adds) u = where_true(f, truth, u, s->update_along, zero);
  else at = where_true(f, truth, at, s->index_along, nowhere);
  ir_type type = ir_type_of(f->m, x);
  ir_op again = ir_build_again(&f->b, s->op, (ir_value[]){x, at, u}, &type);
  ir_op_drop_attr(f->m, again, "unique_indices");
  ir_op_drop_attr(f->m, again, "indices_are_sorted");
  return ir_result(f->m, again, 0);
}

/* All entries behind the last go to one place: they are added up first. */
static ir_value scattered_once(lister *f, const scattering *s, ir_value x) {
  ir_value u = ir_operand(f->m, s->op, 2), at = made(f, ir_operand(f->m, s->op, 1), BEHIND);
  ir_value zero = ir_build_splat_int(&f->b, ir_scalar(f->m, type_of(f, u)->dtype), 0);
  ir_type one = with_length(f, u, s->update_along, 1);
  bool steady = is_member(f, u) ? f->members[u].steady : is_alike_along(f, u, s->update_along);
  if (steady) {
    u = is_member(f, u) ? made(f, u, BEHIND) : foreign(f, u, s->update_along, BEHIND, true);
    u = times(f, IR_OP_ADD, u, zero);
  } else {
    u = where_true(f, is_behind(f), updates_of(f, s, BEHIND), s->update_along, zero);
    u = ir_build_reshape(&f->b, ir_build_sum(&f->b, u, (int64_t[]){s->update_along}, 1), one);
  }
  ir_type type = ir_type_of(f->m, x);
  ir_op again = ir_build_again(&f->b, s->op, (ir_value[]){x, at, u}, &type);
  return ir_result(f->m, again, 0);
}

static bool replace_scatter(lister *f, ir_op op) {
  scattering s;
  if (!find_scattering(f, op, &s)) return false;
  bool once = s.adds && f->members[ir_operand(f->m, op, 1)].steady;
  ir_value x = scattered(f, &s, ir_operand(f->m, op, 0), AT_PLACES);
  x = once ? scattered_once(f, &s, x) : scattered(f, &s, x, BEHIND);
  ir_map_set(f->map, ir_result(f->m, op, 0), x);
  return true;
}

/* The list's value, put together: what is not in the list goes behind its end, where scatter drops
 * it. */
static ir_value put_together(lister *f, ir_value v) {
  int32_t along = f->along.dims[v];
  ir_value rows = made(f, v, AT_PLACES), x = with_ends(f, v, along, BEHIND);
  ir_value end = ir_build_int_like(&f->b, f->counts, f->length);
  ir_value at = ir_build_select(&f->b, is_entry(f), entry_of_place(f), end);
  return pass_build_put_rows(&f->b, x, along, at, rows);
}

/* Everybody who can't be made of places reads the list that was put together. */
static void hand_over(lister *f, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(f->m, op, i)); i++) {
    if (!is_member(f, v)) continue;
    if (!ir_map_has(f->map, v)) ir_map_set(f->map, v, put_together(f, v));
    ir_op_get(f->m, op)->operands[i] = ir_map_get(f->map, v);
  }
}

static bool replace(lister *f, ir_op op) {
  if (depth_read(f, op) < 0) return false;
  f->b.location = ir_op_get(f->m, op)->location;
  switch (ir_kind_of(f->m, op)) {
    case IR_OP_REDUCE: return replace_reduce(f, op);
    case IR_OP_SCATTER: return replace_scatter(f, op);
    case IR_OP_DOT_GENERAL: return replace_product(f, op);
    default: return false;
  }
}

/* What stands for the results of readers; members that are read as they came stay. */
static void rename_operands(lister *f, ir_op op) {
  for (ir_walk w = ir_walk_op(f->m, op); ir_next(&w);) {
    ir_op_data *d = ir_op_get(f->m, w.op);
    for (uint32_t k = 0; k < d->n_operands; k++)
      if (!is_member(f, d->operands[k])) d->operands[k] = ir_map_get(f->map, d->operands[k]);
  }
}

static bool has_entries(const lister *f, ir_op op) {
  for (ir_value v, i = 0; (v = ir_operand_at(f->m, op, i)); i++)
    for (int32_t d = 0; d < type_of(f, v)->rank; d++)
      if (type_of(f, v)->dims[d] == f->length) return true;
  return false;
}

/* Of all trips, which are over something for each entry: which of some bins it falls into. 0: it is
 * no such while. */
static int64_t ops_of_trips(const lister *f, ir_op op) {
  if (!pass_can_write_trips(f->m, op) || !has_entries(f, op)) return 0;
  int64_t trips = ir_trips(f->m, op), ops = 0;
  for (ir_walk w = ir_walk_block(f->m, ir_while_body(f->m, op)); ir_next(&w);) ops++;
  return trips > 0 ? saturated_product(trips, ops) : 0;
}

static bool reads_any(const lister *f, ir_op op, const bool *of) {
  for (ir_walk w = ir_walk_op(f->m, op); ir_next(&w);)
    for (ir_value v, i = 0; (v = ir_operand_at(f->m, w.op, i)); i++)
      if (of[v]) return true;
  return false;
}

/* Of those that are made of the list: their ops may be members, then, as many as may be made of
 * each other. */
static void write_trips(lister *f, ir_block block) {
  ir_ops ops = ir_take_ops(f->m, block);
  bool *of_list = ARENA_ARRAY(f->p->scratch, bool, f->m->values.count);
  f->map = ir_map_new(f->p->scratch, f->m);
  f->first_written = f->m->values.count;
  int64_t left = MOST_DEPTH;
  of_list[f->list] = true;
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    bool reads = reads_any(f, op, of_list);
    for (uint32_t k = 0; k < ir_op_get(f->m, op)->n_results; k++)
      of_list[ir_result(f->m, op, k)] |= reads;
    ir_rename_within(f->m, op, f->map);
    int64_t n = reads ? ops_of_trips(f, op) : 0;
    bool is_written = n && n <= left;
    if (is_written) pass_write_trips(f->m, op, ir_trips(f->m, op), block, f->map);
    else ir_block_append(f->m, block, op);
    left -= is_written ? n : 0;
  }
}

static void dissolve(lister *f, ir_block block) {
  write_trips(f, block);
  ir_ops ops = ir_take_ops(f->m, block);
  find_members(f, &ops);
  f->map = ir_map_new(f->p->scratch, f->m); /* another list's members read it as it came */
  f->b = (ir_builder){f->m, block, IR_NONE};
  f->is_entry = f->count = f->is_behind = f->entry = IR_NONE;
  for (ir_op op, i = 0; (op = ir_listed(&ops, i)); i++) {
    const ir_op_data *d = ir_op_get(f->m, op);
    bool inside = d->n_results == 1 && is_member(f, d->first_result);
    rename_operands(f, op);
    if (!inside && replace(f, op)) continue;
    if (!inside) hand_over(f, op);
    ir_block_append(f->m, block, op);
  }
  f->p->changed = true;
}

/* ---- the pass ---- */
static weir_status run(pass_ctx *p, ir_module *m) {
  ir_block top = ir_top(m);
  lister f = {.p = p, .m = m, .ranges = pass_bounds_make(p->scratch, m)};
  ir_ops found = {0};
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);) pass_bounds_note(&f.ranges, w.op);
  for (ir_walk w = ir_walk_block(m, top); ir_next(&w);)
    if (ir_kind_of(m, w.op) == IR_OP_REDUCE_WINDOW && find_list(&f, w.op))
      VEC_PUSH(p->scratch, &found, w.op);
  for (uint32_t i = 0; i < found.count; i++)
    if (find_list(&f, found.at[i])) dissolve(&f, ir_op_get(m, found.at[i])->block);
  return WEIR_OK;
}

const pass pass_listed = {"listed", run};
