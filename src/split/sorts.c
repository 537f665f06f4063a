#include "split/sorts.h"

#include "base/ints.h"
#include "ir/attrs.h"
#include "split/window.h"

enum { DEEPEST = 64 };

/* ---- which comparators ---- */
static bool is_all_bitwise(const ir_module *m, ir_block body) {
  const ir_block_data *b = ir_block_get(m, body);
  for (uint32_t i = 0; i + 1 < b->ops.count; i++)
    if (!ir_is_bitwise(ir_kind_of(m, b->ops.at[i]))) return false;
  return b->ops.count > 0;
}

static bool is_whole(ir_dtype d) { return ir_is_integer(d) || d == IR_I1; }

/* Made of comparisons after which no two elements are unordered: not of floats as numbers, whose
 * NaNs are neither before nor behind anything. */
static bool orders_all(const ir_module *m, ir_value v, int depth) {
  ir_op op = ir_value_get(m, v)->op;
  ir_direction direction;
  ir_compare_type type;
  if (!op || depth == 0) return false;
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_CONSTANT) return true;
  if (kind == IR_OP_COMPARE)
    return is_whole(ir_type_at(m, ir_operand(m, op, 0))->dtype) ||
           (ir_compare_kind(m, op, &direction, &type) && type == IR_COMPARE_TOTALORDER);
  if (kind != IR_OP_AND && kind != IR_OP_OR && kind != IR_OP_NOT && kind != IR_OP_SELECT)
    return false;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++)
    if (!orders_all(m, ir_operand(m, op, i), depth - 1)) return false;
  return true;
}

static bool is_carried_type(const ir_module *m, ir_type t) {
  if (!ir_is_static_tensor(m, t)) return false;
  ir_dtype d = ir_type_get(m, t)->dtype;
  return is_whole(d) || ir_is_common_float(d);
}

static int64_t sorted_dim(const ir_module *m, ir_op op) {
  int64_t dim = ir_op_int(m, op, "dimension", -1);
  return dim < 0 ? dim + ir_type_at(m, ir_result(m, op, 0))->rank : dim;
}

bool split_sorts_along(ir_module *m, ir_op op, int64_t dim) {
  if (ir_kind_of(m, op) != IR_OP_SORT || sorted_dim(m, op) != dim) return false;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++)
    if (!is_carried_type(m, ir_type_of(m, ir_operand(m, op, i)))) return false;
  ir_block body = ir_body(m, op);
  return is_all_bitwise(m, body) && ir_type_at(m, ir_operand(m, op, 0))->dims[dim] > 0 &&
         orders_all(m, ir_yielded(m, body, 0), DEEPEST);
}

bool split_is_sorted(const ir_module *m, ir_op op, const split_factor *f) {
  return f->carried && ir_kind_of(m, op) == IR_OP_SORT;
}

/* ---- elements and their places ---- */
typedef struct sorting {
  ir_module *m;
  ir_op op;
  uint32_t n;                   /* operands; the places come after them */
  int32_t dim;                  /* that is sorted along */
  int64_t length, window, part; /* of the dimension, of a trip, of what is read at a time */
  ir_dtype place;
  bool from_last; /* the trips go from the last element to the first */
} sorting;

static sorting sorting_of(ir_module *m, ir_op op, split_pos pos, int64_t slice) {
  int64_t length = ir_type_at(m, ir_operand(m, op, 0))->dims[pos.dim], window = slice * pos.unit;
  CTX_CHECK(m->ctx, !pos.more && window > 0);
  return (sorting){.m = m,
                   .op = op,
                   .n = ir_op_get(m, op)->n_operands,
                   .dim = pos.dim,
                   .length = length,
                   .window = window,
                   .part = min64(window, length),
                   .place = length < INT32_MAX ? IR_I32 : IR_I64,
                   .from_last = pos.mirrored};
}

/* The position in the order of the trips: ranks are counted from the end that they begin at, and
 * all but the results stands in this order. */
static split_pos in_order(const sorting *s, split_pos pos) {
  if (!pos.mirrored) return pos;
  pos.mirrored = false;
  pos.offset = s->length - pos.unit - pos.offset;
  return pos;
}

static ir_value turned(ir_builder *b, const sorting *s, ir_value x) {
  int64_t dim = s->dim;
  ir_named_attr attr = ir_property(s->m, "dimensions", ir_attr_i64s(s->m, &dim, 1));
  return s->from_last ? ir_build(b, IR_OP_REVERSE, 1, &x, ir_type_of(s->m, x), 1, &attr) : x;
}

static int64_t no_place(const sorting *s) { return s->place == IR_I32 ? INT32_MAX : INT64_MAX; }

/* Of `size` elements of the operand along the dimension; i == n: of their places. */
static ir_type part_type(const sorting *s, uint32_t i, int64_t size) {
  ir_type whole = ir_type_of(s->m, ir_operand(s->m, s->op, i < s->n ? i : 0));
  if (i == s->n) whole = ir_tensor_with_dtype(s->m, whole, s->place);
  return ir_tensor_with_dim(s->m, whole, s->dim, size);
}

static ir_value nothing(ir_builder *b, const sorting *s, uint32_t i, int64_t size) {
  ir_type type = part_type(s, i, size);
  int64_t number = i < s->n ? 0 : no_place(s);
  ir_type scalar = ir_scalar(s->m, ir_type_get(s->m, type)->dtype);
  return ir_build_broadcast(b, ir_build_splat_int(b, scalar, number), type, NULL);
}

/* ---- the S first ---- */
/* Whether a trip has x before y, by the comparator, for whole tensors. */
static ir_value is_before(ir_builder *b, const sorting *s, const ir_value *x, const ir_value *y) {
  ir_value *args = ARENA_ARRAY(s->m->arena, ir_value, 2 * s->n), before;
  for (uint32_t i = 0; i < s->n; i++)
    args[2 * i] = s->from_last ? y[i] : x[i], args[2 * i + 1] = s->from_last ? x[i] : y[i];
  split_lift(b, ir_body(s->m, s->op), args, &before);
  return before;
}

/* The comparator's own answer for two elements: x before y, or y before x. */
static ir_value copy_comparator(ir_builder *b, const sorting *s, const ir_value *args, bool swap) {
  ir_module *m = s->m;
  ir_block old = ir_body(m, s->op);
  ir_map *map = ir_map_new(m->arena, m);
  for (uint32_t i = 0; i < 2 * s->n; i++)
    ir_map_set(map, ir_argument(m, old, i), args[swap ? i ^ 1 : i]);
  ir_copy_body(m, old, b->block, NULL, map);
  return ir_map_get(map, ir_yielded(m, old, 0));
}

/* From the last to the first, also among those that tie. */
static ir_value comes_later(ir_builder *b, const sorting *s, const ir_value *args, ir_value x,
                            ir_value y) {
  ir_value not_before = ir_build_unary(b, IR_OP_NOT, copy_comparator(b, s, args, false)),
           is_later = ir_build_binary(b, IR_OP_AND, not_before, ir_build_compare(b, "GT", x, y));
  return ir_build_binary(b, IR_OP_OR, copy_comparator(b, s, args, true), is_later);
}

/* What has no place comes behind all that has one. */
static void build_comparator(const sorting *s, ir_op sort) {
  ir_module *m = s->m;
  ir_block old = ir_body(m, s->op), body = ir_region_block(m, sort, 0);
  ir_builder b = {m, body, ir_op_get(m, sort)->location};
  ir_value *args = ARENA_ARRAY(m->arena, ir_value, 2 * s->n);
  for (uint32_t i = 0; i < 2 * s->n; i++)
    args[i] = ir_block_arg(m, body, ir_type_of(m, ir_argument(m, old, i)));
  ir_type place = ir_scalar(m, s->place);
  ir_value x = ir_block_arg(m, body, place), y = ir_block_arg(m, body, place),
           none = ir_build_splat_int(&b, place, no_place(s));
  ir_value before =
               s->from_last ? comes_later(&b, s, args, x, y) : copy_comparator(&b, s, args, false),
           counts = ir_build_compare(&b, "NE", x, none),
           other = ir_build_compare(&b, "EQ", y, none);
  ir_value result =
      ir_build_binary(&b, IR_OP_AND, counts, ir_build_binary(&b, IR_OP_OR, other, before));
  ir_build_return(&b, IR_OP_RETURN, &result, 1);
}

/* Both in order; what was first so far wins ties, as it came earlier. */
static void sort_both(ir_builder *b, const sorting *s, const ir_value *first, const ir_value *x,
                      ir_value *out) {
  ir_module *m = s->m;
  uint32_t n = s->n + 1;
  ir_value *both = ARENA_ARRAY(m->arena, ir_value, n);
  for (uint32_t i = 0; i < n; i++)
    both[i] = ir_build_concatenate(b, (ir_value[]){first[i], x[i]}, 2, s->dim);
  ir_op_desc desc = ir_op_desc_of(m, s->op);
  desc.n_operands = desc.n_results = n;
  desc.operands = both;
  desc.result_types = ir_types_of(m->arena, m, both, n);
  ir_op sort = ir_op_new(m, b->block, &desc);
  ir_op_set_attr(m, sort, "is_stable", ir_attr_bool(m, true), true);
  build_comparator(s, sort);
  for (uint32_t i = 0; i < n; i++) out[i] = ir_result(m, sort, i);
}

/* ---- one pass over the operands ---- */
typedef struct bound {  /* what comes after `last`, or all */
  const ir_value *last; /* elements and their place, one along the dimension */
  ir_value is_all;      /* i1 */
} bound;

/* Elements of x at positions that follow one another in each line. */
static ir_value taken(ir_builder *b, const sorting *s, ir_value x, ir_value first, int64_t size) {
  ir_type type = part_type(s, s->n, size);
  if (ir_element_count(s->m, type) == size) {
    ir_value at = ir_build_reshape(b, first, ir_scalar(s->m, s->place));
    return ir_build_part(b, x, s->dim, ir_build_convert(b, at, IR_I64), size);
  }
  ir_value at = ir_build_iota(b, type, s->dim);
  at = ir_build_add(b, at, ir_build_along(b, first, type, s->dim));
  return ir_build_take_along(b, x, at, s->dim);
}

/* How many of each line the trips before have had: they have a place and don't come after the
 * bound. */
static ir_value count_done(ir_builder *b, const sorting *s, const bound *after, const ir_value *x) {
  ir_value *last = ARENA_ARRAY(s->m->arena, ir_value, s->n + 1), place = x[s->n];
  for (uint32_t i = 0; i <= s->n; i++)
    last[i] = ir_build_along(b, after->last[i], ir_type_of(s->m, x[i]), s->dim);
  ir_value is_later = ir_build_compare(b, s->from_last ? "LT" : "GT", place, last[s->n]),
           is_smaller = is_before(b, s, x, last), is_larger = is_before(b, s, last, x);
  is_later = ir_build_binary(b, IR_OP_AND, is_later, ir_build_unary(b, IR_OP_NOT, is_smaller));
  ir_value counts = ir_build_binary(b, IR_OP_OR, is_larger, is_later);
  counts = ir_build_binary(b, IR_OP_OR, counts,
                           ir_build_broadcast(b, after->is_all, ir_type_of(s->m, counts), NULL));
  ir_value none = ir_build_int_like(b, place, no_place(s));
  ir_value is_done = ir_build_binary(b, IR_OP_AND, ir_build_unary(b, IR_OP_NOT, counts),
                                     ir_build_compare(b, "NE", place, none));
  ir_value count = ir_build_convert(b, is_done, s->place);
  count = ir_build_sum(b, count, (int64_t[]){s->dim}, 1);
  return ir_build_reshape(b, count, part_type(s, s->n, 1));
}

/* The same of what is in order, where all that are done are in front: of the first elements of
 * blocks, and then of the last block whose first element is done. */
static ir_value count_in_front(ir_builder *b, const sorting *s, const bound *after,
                               const ir_value *sorted) {
  ir_module *m = s->m;
  const ir_type_data *t = ir_type_at(m, sorted[0]);
  int64_t size = t->dims[s->dim], block = 1, from[IR_MAX_RANK] = {0}, steps[IR_MAX_RANK];
  while (block * block < size) block++;
  for (int32_t i = 0; i < t->rank; i++) steps[i] = i == s->dim ? block : 1;
  ir_value *x = ARENA_ARRAY(m->arena, ir_value, s->n + 1);
  for (uint32_t i = 0; i <= s->n; i++) x[i] = ir_build_slice(b, sorted[i], from, t->dims, steps);
  ir_value blocks = count_done(b, s, after, x),
           one = ir_build_splat_int(b, part_type(s, s->n, 1), 1);
  ir_type type = ir_type_of(m, blocks);
  ir_value first =
      ir_build_multiply(b, ir_build_subtract(b, blocks, one), ir_build_splat_int(b, type, block));
  first = ir_build_clamped(b, first, 0, size - block);
  for (uint32_t i = 0; i <= s->n; i++) x[i] = taken(b, s, sorted[i], first, block);
  return ir_build_add(b, first, count_done(b, s, after, x));
}

/* The places of a slice's elements; none for those that the slice before had, too. */
static ir_value places(ir_builder *b, const sorting *s, ir_value lo, ir_value start) {
  ir_type type = part_type(s, s->n, s->part);
  ir_value place = ir_build_broadcast(b, ir_build_convert(b, start, s->place), type, NULL);
  place = ir_build_add(b, place, ir_build_iota(b, type, s->dim));
  if (s->length % s->part == 0) return place;
  ir_value first = ir_build_broadcast(b, ir_build_convert(b, lo, s->place), type, NULL);
  return ir_build_select(b, ir_build_compare(b, "GE", place, first), place,
                         nothing(b, s, s->n, s->part));
}

/* The body: a slice of the operands after the other. Each element of it is read once, by the sort,
 * and what is compared with the bound is what came out of that: XLA may round what is computed
 * differently for each of its readers. */
static void read_slice(ir_builder *b, const sorting *s, const bound *after,
                       const ir_value *operands, const ir_value *state, ir_value *next) {
  ir_value *x = ARENA_ARRAY(s->m->arena, ir_value, s->n + 1),
           *sorted = ARENA_ARRAY(s->m->arena, ir_value, s->n + 1);
  ir_value lo = ir_build_multiply(b, state[0], ir_build_int(b, s->part)), start = lo;
  if (s->length % s->part)
    start = ir_build_binary(b, IR_OP_MINIMUM, lo, ir_build_int(b, s->length - s->part));
  for (uint32_t i = 0; i < s->n; i++) x[i] = ir_build_part(b, operands[i], s->dim, start, s->part);
  x[s->n] = places(b, s, lo, start);
  next[0] = ir_build_add(b, state[0], ir_build_int(b, 1));
  sort_both(b, s, state + 1, x, sorted);
  ir_value done = count_in_front(b, s, after, sorted); /* of the slice alone: `part` at most */
  for (uint32_t i = 0; i <= s->n; i++) next[1 + i] = taken(b, s, sorted[i], done, s->window);
}

static void find_first(ir_builder *b, const sorting *s, const bound *after,
                       const ir_value *operands, ir_value *out) {
  ir_module *m = s->m;
  uint32_t n = s->n + 2;
  ir_value *init = ARENA_ARRAY(m->arena, ir_value, n), *next = ARENA_ARRAY(m->arena, ir_value, n);
  init[0] = ir_build_int(b, 0);
  for (uint32_t i = 0; i <= s->n; i++) init[1 + i] = nothing(b, s, i, s->window);
  ir_op loop = ir_build_while(b, init, n);
  ir_build_while_below(m, loop, (s->length + s->part - 1) / s->part);
  ir_block inside = ir_while_body(m, loop);
  ir_builder body = {m, inside, b->location};
  ir_value *state = ARENA_COPY(m->arena, ir_value, ir_block_get(m, inside)->args.at, n);
  read_slice(&body, s, after, operands, state, next);
  ir_build_return(&body, IR_OP_RETURN, next, n);
  for (uint32_t i = 0; i <= s->n; i++) out[i] = ir_result(m, loop, 1 + i);
}

/* ---- a trip ---- */
void split_sort_init(ir_builder *b, ir_op op, split_pos pos, int64_t slice, int64_t behind,
                     ir_value *out_carries) {
  sorting s = sorting_of(b->m, op, pos, slice);
  int64_t far = behind ? behind * pos.unit : 1;
  for (uint32_t i = 0; i <= s.n; i++) out_carries[i] = nothing(b, &s, i, far + s.window);
}

/* What stands in front of the slice: as many elements of the carry as it has besides a slice. */
static ir_value before_slice(ir_builder *b, const sorting *s, split_pos pos, const split_trip *trip,
                             ir_value carry) {
  int64_t far = ir_type_at(s->m, carry)->dims[s->dim] - s->window;
  ir_value at = ir_build_subtract(b, trip->start, trip->lo);
  at = ir_build_add(b, at, ir_build_int(b, trip->slice));
  at = ir_build_multiply(b, at, ir_build_int(b, pos.unit));
  return ir_build_part(b, carry, s->dim, at, far);
}

/* In a window that begins in front of the first rank the first ones stand further back. */
static ir_value moved(ir_builder *b, const sorting *s, ir_value x, ir_value at) {
  ir_value by = ir_build_binary(b, IR_OP_MINIMUM, at, ir_build_int(b, 0));
  by = ir_build_add(b, by, ir_build_int(b, s->window));
  ir_value twice = ir_build_concatenate(b, (ir_value[]){x, x}, 2, s->dim);
  return ir_build_part(b, twice, s->dim, by, s->window);
}

void split_sort_step(ir_builder *b, ir_op op, split_pos asked, const split_trip *trip,
                     const ir_value *operands, ir_value *carries, ir_value *out_results) {
  ir_module *m = b->m;
  sorting s = sorting_of(m, op, asked, trip->slice);
  split_pos pos = in_order(&s, asked);
  ir_value *far = ARENA_ARRAY(m->arena, ir_value, s.n + 1),
           *last = ARENA_ARRAY(m->arena, ir_value, s.n + 1),
           *first = ARENA_ARRAY(m->arena, ir_value, s.n + 1);
  CTX_CHECK(m->ctx, pos.offset + trip->begin * pos.unit <= 0);
  for (uint32_t i = 0; i <= s.n; i++) {
    far[i] = before_slice(b, &s, pos, trip, carries[i]);
    last[i] = ir_build_slice_dim(b, far[i], s.dim, ir_type_at(m, far[i])->dims[s.dim] - 1, 1);
  }
  ir_value at = split_window_start(b, trip, pos);
  find_first(b, &s, &(bound){last, ir_build_compare(b, "LE", at, ir_build_int(b, 0))}, operands,
             first);
  for (uint32_t i = 0; i <= s.n; i++) {
    if (pos.offset + trip->begin * pos.unit < 0) first[i] = moved(b, &s, first[i], at);
    carries[i] = ir_build_concatenate(b, (ir_value[]){far[i], first[i]}, 2, s.dim);
    if (i < s.n) out_results[i] = turned(b, &s, first[i]);
  }
}

ir_value split_sort_behind(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                           int64_t behind, ir_value carry) {
  sorting s = sorting_of(b->m, op, pos, trip->slice);
  int64_t at = ir_type_at(b->m, carry)->dims[s.dim] - s.window - behind * pos.unit;
  CTX_CHECK(b->m->ctx, at >= 0);
  return turned(b, &s, ir_build_slice_dim(b, carry, s.dim, at, s.window));
}
