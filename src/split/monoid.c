#include "split/monoid.h"

#include <math.h>

#include "base/ints.h"
#include "ir/fold.h"
#include "ir/attrs.h"
#include "split/indices.h"
#include "split/masked.h"
#include "split/tile_op.h"
#include "split/stencil.h"
#include "split/window.h"

/* ---- elements ---- */
ir_dtype split_sum_dtype(ir_dtype d) {
  bool narrow = ir_is_float(d) && ir_dtype_bytes(d) < 4;
  return narrow ? IR_F32 : d;
}

static int64_t highest_int(ir_dtype d) { return d == IR_UI64 ? -1 : ir_highest(d); }
static int64_t all_ones(ir_dtype d) { return ir_is_signed(d) ? -1 : highest_int(d); }

/* combine(neutral, x) == x, to the bit. */
static ir_value neutral(ir_builder *b, ir_kind kind, ir_type type) {
  ir_dtype d = ir_type_get(b->m, type)->dtype;
  switch (kind) {
    case IR_OP_ADD: return ir_build_neutral_of_sum(b, type);
    case IR_OP_MULTIPLY: return ir_build_splat_int(b, type, 1);
    case IR_OP_MAXIMUM:
      return ir_is_float(d) ? ir_build_splat_real(b, type, -INFINITY)
                            : ir_build_splat_int(b, type, ir_lowest(d));
    case IR_OP_MINIMUM:
      return ir_is_float(d) ? ir_build_splat_real(b, type, INFINITY)
                            : ir_build_splat_int(b, type, highest_int(d));
    case IR_OP_AND: return ir_build_splat_int(b, type, all_ones(d));
    default: return ir_build_splat_int(b, type, 0); /* OR, XOR */
  }
}

ir_value split_neutral(ir_builder *b, ir_kind kind, ir_type type, ir_value initial) {
  if (kind == IR_OP_ADD && ir_is_zero(b->m, initial)) return ir_build_splat_int(b, type, 0);
  return neutral(b, kind, type);
}

static bool is_storable(ir_dtype d) { return !ir_is_float(d) || ir_is_common_float(d); }

bool split_has_neutral(ir_kind kind, ir_dtype d) {
  bool unordered = kind != IR_OP_MAXIMUM && kind != IR_OP_MINIMUM;
  return kind != IR_OP_UNKNOWN && is_storable(kind == IR_OP_ADD ? split_sum_dtype(d) : d) &&
         (unordered || !ir_is_complex(d));
}

/* ---- masks ---- */
typedef struct reduction { /* of one op in one trip */
  ir_op op;
  const split_factor *f;
  const split_trip *trip;
} reduction;

static int64_t size_along(const ir_module *m, const reduction *r, uint32_t operand) {
  return ir_type_at(m, ir_operand(m, r->op, operand))->dims[r->f->operands[operand].dim];
}

/* Some trip's slice of the operand has elements that earlier trips had, or beyond its ends. */
static bool is_masked(const ir_module *m, const reduction *r, uint32_t operand) {
  split_pos pos = r->f->operands[operand];
  return pos.dim >= 0 && (r->trip->extent % r->trip->slice ||
                          !split_window_fits(r->trip, pos, size_along(m, r, operand)));
}

/* x, the operand's slice, with `otherwise` for the elements that must not count. */
static ir_value masked(ir_builder *b, const reduction *r, uint32_t operand, ir_value x,
                       ir_value otherwise) {
  split_pos pos = r->f->operands[operand];
  if (!is_masked(b->m, r, operand)) return x;
  split_interval fresh = split_window_fresh(b, r->trip, pos, size_along(b->m, r, operand));
  ir_value mask = split_window_mask(b, ir_type_of(b->m, x), pos.dim, fresh);
  return ir_build_select(b, mask, x, otherwise);
}

static ir_value splat_of(ir_builder *b, ir_value scalar, ir_type type) {
  return ir_build_broadcast(b, scalar, type, NULL);
}

/* ---- sums of products: dot, convolution ---- */
ir_type split_sum_type(ir_module *m, ir_op op) {
  ir_type t = ir_type_of(m, ir_result(m, op, 0));
  return ir_tensor_with_dtype(m, t, split_sum_dtype(ir_type_get(m, t)->dtype));
}

static void product_init(ir_builder *b, ir_op op, ir_value *carries) {
  carries[0] = ir_build_splat_int(b, split_sum_type(b->m, op), 0);
}

static ir_value zeros_of(ir_builder *b,
                         ir_type type) { /* of any element type but f8E8M0FNU, which has no 0 */
  static const char zero[16];
  return ir_build_constant(b, type, zero);
}

/* The kernel's part of the trip with the windows that it meets: what these share with those of
 * other trips meets other elements of the kernel. */
static ir_value stencil_part(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                             const ir_value *operands, ir_type type, const split_stencil *s) {
  reduction r = {op, f, trip};
  ir_module *m = b->m;
  split_pos pos = f->operands[0];
  ir_value sides[] = {operands[0], operands[1]};
  ir_type image = ir_type_of(m, sides[0]), kernel = ir_type_of(m, sides[1]);
  sides[1] = masked(b, &r, 1, sides[1], zeros_of(b, kernel));
  split_interval inside =
      split_window_inside(b, split_window_start(b, trip, pos), size_along(m, &r, 0),
                          split_window_size(pos, trip->slice));
  ir_value mask = split_window_fits(trip, pos, size_along(m, &r, 0))
                      ? IR_NONE
                      : split_window_mask(b, image, pos.dim, inside);
  if (mask) sides[0] = ir_build_select(b, mask, sides[0], zeros_of(b, image));
  sides[0] = split_stencil_trimmed(b, op, s, pos, f->operands[1], sides[0]);
  ir_op part = ir_build_again(b, op, sides, &type);
  split_stencil_set_padding(m, part, s, pos, f->operands[1]);
  return ir_result(m, part, 0);
}

/* The operands of a trip without what was counted before, and without what they are masked by. */
static void product_sides(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                          const ir_value *operands, ir_value *sides) {
  reduction r = {op, f, trip};
  for (uint32_t i = 0; i < 2; i++) {
    sides[i] = operands[i];
    if (is_masked(b->m, &r, i))
      sides[i] = masked(b, &r, i, operands[i], zeros_of(b, ir_type_of(b->m, operands[i])));
  }
  uint32_t side;
  split_select_in_body(b, op, sides, &side);
}

static ir_value product_part(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                             const ir_value *operands, ir_type type) {
  ir_value sides[2];
  split_stencil s;
  if (ir_kind_of(b->m, op) == IR_OP_CONVOLUTION &&
      split_stencil_of(b->m->arena, b->m, op, 1, f->operands[1].dim, &s))
    return stencil_part(b, op, f, trip, operands, type, &s);
  product_sides(b, op, f, trip, operands, sides);
  return ir_result(b->m, ir_build_again(b, op, sides, &type), 0);
}

/* ---- a large part of a sum of products, block by block along one of its dimensions ---- */
typedef struct blocks {
  ir_op op;
  split_factor f; /* of that dimension: where it sits on the operands */
  int32_t dim;
  int64_t size, length; /* of the dimension, of a block */
} blocks;

bool split_adds_in_blocks(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  const ir_type_data *t = ir_type_at(m, ir_result(m, op, 0));
  return (kind == IR_OP_DOT || kind == IR_OP_DOT_GENERAL) && t->rank > 0 &&
         t->dims[ir_longest_dim(t)] > 1;
}

/* Of equal lengths, where some are about as long as wished. */
static int64_t block_length(int64_t size, int64_t bytes, int64_t part_bytes) {
  int64_t index_bytes = bytes / size, most = part_bytes / (index_bytes ? index_bytes : 1);
  if (most < 1) most = 1;
  int64_t even = largest_divisor(size, most / 2 + 1, most);
  return even ? even : most;
}

static blocks blocks_of(ir_module *m, ir_op op, ir_type sum, int64_t part_bytes) {
  const ir_type_data *t = ir_type_get(m, sum);
  blocks k = {.op = op, .dim = ir_longest_dim(t)};
  k.size = t->dims[k.dim];
  k.length = block_length(k.size, ir_type_bytes(m, sum), part_bytes);
  bool traced = split_trace(m->arena, m, op, true, 0, (split_pos){.dim = k.dim, .unit = 1}, &k.f);
  CTX_CHECK(m->ctx, traced && k.f.role == SPLIT_PARALLEL);
  CTX_CHECK(m->ctx, 0 < k.length && k.length <= k.size);
  return k;
}

static ir_value add_block(ir_builder *b, const blocks *k, const ir_value *sides, ir_value sum,
                          ir_value at, int64_t length) {
  ir_module *m = b->m;
  ir_value parts[2];
  for (uint32_t i = 0; i < 2; i++) {
    int32_t dim = k->f.operands[i].dim;
    parts[i] = dim < 0 ? sides[i] : ir_build_part(b, sides[i], dim, at, length);
  }
  ir_type type = ir_tensor_with_dim(m, ir_type_of(m, sum), k->dim, length);
  ir_value part = ir_result(m, ir_build_again(b, k->op, parts, &type), 0);
  ir_value old = ir_build_part(b, sum, k->dim, at, length);
  return ir_build_with_part(b, sum, ir_build_add(b, old, part), k->dim, at);
}

/* sum = while(i < blocks, sum) { i + 1, sum with block i added }; then what is left over. */
static ir_value add_in_blocks(ir_builder *b, const blocks *k, const ir_value *sides, ir_value sum) {
  ir_module *m = b->m;
  ir_type index = ir_scalar(m, IR_I64);
  int64_t count = k->size / k->length, rest = k->size % k->length;
  ir_value init[] = {ir_build_splat_int(b, index, 0), sum}, next[2];
  ir_op loop = ir_build_while(b, init, 2);
  ir_build_while_below(m, loop, count);
  ir_builder body = {m, ir_while_body(m, loop), b->location};
  ir_value i = ir_argument(m, body.block, 0), sum_inside = ir_argument(m, body.block, 1);
  ir_value at = ir_build_multiply(&body, i, ir_build_splat_int(&body, index, k->length));
  next[0] = ir_build_add(&body, i, ir_build_splat_int(&body, index, 1));
  next[1] = add_block(&body, k, sides, sum_inside, at, k->length);
  ir_build_return(&body, IR_OP_RETURN, next, 2);
  sum = ir_result(m, loop, 1);
  if (!rest) return sum;
  return add_block(b, k, sides, sum, ir_build_splat_int(b, index, count * k->length), rest);
}

static void product_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                         const ir_value *operands, ir_value *carries) {
  ir_type type = ir_type_of(b->m, carries[0]);
  if (trip->part_bytes && ir_type_bytes(b->m, type) > trip->part_bytes &&
      split_adds_in_blocks(b->m, op)) {
    ir_value sides[2];
    product_sides(b, op, f, trip, operands, sides);
    blocks k = blocks_of(b->m, op, type, trip->part_bytes);
    carries[0] = add_in_blocks(b, &k, sides, carries[0]);
    return;
  }
  ir_value part = product_part(b, op, f, trip, operands, type);
  carries[0] = ir_build_add(b, carries[0], part);
}

/* ---- reduce by a known monoid ---- */
static ir_kind reducer(const ir_module *m, ir_op op) {
  return ir_op_get(m, op)->n_operands == 2 ? ir_reducer_kind(m, ir_body(m, op)) : IR_OP_UNKNOWN;
}

static ir_value reduce_part(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                            const ir_value *operands, ir_type type) {
  ir_module *m = b->m;
  ir_kind kind = reducer(m, op);
  ir_dtype dtype = ir_type_get(m, type)->dtype;
  ir_value x = ir_build_convert(b, operands[0], dtype);
  reduction r = {op, f, trip};
  ir_value initial = ir_operand(m, op, 1);
  if (is_masked(m, &r, 0))
    x = masked(b, &r, 0, x, split_neutral(b, kind, ir_type_of(m, x), initial));
  ir_value begin = split_neutral(b, kind, ir_scalar(m, dtype), initial);
  ir_op partial = ir_build_again(b, op, (ir_value[]){x, begin}, &type);
  if (ir_type_at(m, ir_operand(m, op, 0))->dtype != dtype)
    ir_build_reducer(b, partial, kind, dtype);
  return ir_result(m, partial, 0);
}

static void reduce_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                        const ir_value *operands, ir_value *carries) {
  ir_value part = reduce_part(b, op, f, trip, operands, ir_type_of(b->m, carries[0]));
  carries[0] = ir_build_binary(b, reducer(b->m, op), carries[0], part);
}

/* ---- reduce by any associative body: its scalar ops lifted to whole tensors merge two partial
 * results ---- */
static bool is_pair(const ir_module *m, ir_op op, ir_value x, ir_value y) {
  const ir_op_data *d = ir_op_get(m, op);
  return d->n_operands == 2 && ((d->operands[0] == x && d->operands[1] == y) ||
                                (d->operands[0] == y && d->operands[1] == x));
}

/* How the body makes result i, if it does so from the two arguments i alone and there is a neutral
 * element. */
static ir_kind component_kind(const ir_module *m, ir_block body, uint32_t i) {
  const ir_block_data *b = ir_block_get(m, body);
  ir_op op = ir_value_get(m, ir_yielded(m, body, i))->op;
  ir_dtype d = ir_type_at(m, b->args.at[i])->dtype;
  if (!op || !is_pair(m, op, b->args.at[i], b->args.at[b->args.count / 2 + i]) || !is_storable(d))
    return IR_OP_UNKNOWN;
  ir_kind kind = ir_kind_of(m, op);
  return ir_is_monoid(kind) && split_has_neutral(kind, d) ? kind : IR_OP_UNKNOWN;
}

static uint32_t count_uses(const ir_module *m, ir_block body, ir_value v) {
  uint32_t count = 0;
  for (ir_op op, i = 0; (op = ir_op_at(m, body, i)); i++)
    for (ir_value x, k = 0; (x = ir_operand_at(m, op, k)); k++) count += x == v;
  return count;
}

/* Nothing else in the body reads result i or its arguments, so that their type may change. */
static bool is_apart(const ir_module *m, ir_block body, uint32_t i) {
  const ir_block_data *d = ir_block_get(m, body);
  return component_kind(m, body, i) && count_uses(m, body, d->args.at[i]) == 1 &&
         count_uses(m, body, d->args.at[d->args.count / 2 + i]) == 1 &&
         count_uses(m, body, ir_yielded(m, body, i)) == 1;
}

/* Whether result i is carried in a wider type: it is a sum, or beside one, as XLA reduces floats of
 * one type together. */
static bool widens(const ir_module *m, ir_op op, uint32_t i) {
  ir_block body = ir_body(m, op);
  bool has_sum = false;
  for (uint32_t k = 0; k < ir_op_get(m, op)->n_results; k++) {
    ir_dtype dtype = ir_type_at(m, ir_argument(m, body, k))->dtype;
    if (split_sum_dtype(dtype) == dtype) {
      if (k == i) return false;
      continue;
    }
    if (!is_apart(m, body, k)) return false;
    has_sum |= component_kind(m, body, k) == IR_OP_ADD;
  }
  return has_sum;
}

/* The body of a copy of op whose operands are wide already. */
static void widen_body(ir_module *m, ir_op copy, uint32_t i, ir_dtype dtype) {
  ir_block body = ir_body(m, copy);
  const ir_block_data *d = ir_block_get(m, body);
  ir_type scalar = ir_scalar(m, dtype);
  ir_value_get(m, d->args.at[i])->type = scalar;
  ir_value_get(m, d->args.at[d->args.count / 2 + i])->type = scalar;
  ir_value_get(m, ir_yielded(m, body, i))->type = scalar;
}

bool split_is_elementwise(const ir_module *m, ir_block body) {
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++) {
    ir_kind kind = ir_kind_of(m, op);
    if (kind != IR_OP_CONSTANT && !ir_is_elementwise(kind)) return false;
  }
  return true;
}

/* Each slice starts from a neutral element, or from the op's own initial value where it may be
 * counted any number of times. */
static bool is_liftable(const ir_module *m, ir_op op) {
  ir_block body = ir_body(m, op);
  if (!split_is_elementwise(m, body)) return false;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    if (!component_kind(m, body, i) && !ir_is_chosen(m, body, i)) return false;
  return true;
}

static void lift_op(ir_builder *b, ir_op op, ir_type shape, ir_map *map) {
  ir_module *m = b->m;
  if (ir_kind_of(m, op) == IR_OP_CONSTANT) {
    ir_op scalar = ir_copy_op(m, b->block, op, map);
    ir_value v = ir_result(m, scalar, 0);
    ir_map_set(map, ir_result(m, op, 0),
               splat_of(b, v, ir_tensor_with_dtype(m, shape, ir_type_at(m, v)->dtype)));
    return;
  }
  ir_op copy = ir_copy_op(m, b->block, op, map);
  for (ir_value v, i = 0; (v = ir_result_at(m, copy, i)); i++) {
    ir_value_get(m, v)->type = ir_tensor_with_dtype(m, shape, ir_type_at(m, v)->dtype);
  }
}

void split_lift(ir_builder *b, ir_block body, const ir_value *args, ir_value *out) {
  ir_module *m = b->m;
  ir_map *map = ir_map_new(m->arena, m);
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, body, i)); i++) ir_map_set(map, arg, args[i]);
  for (ir_op op, i = 0; (op = ir_body_op_at(m, body, i)); i++)
    lift_op(b, op, ir_type_of(m, args[0]), map);
  ir_op end = ir_terminator(m, body);
  for (uint32_t i = 0; i < ir_op_get(m, end)->n_operands; i++)
    out[i] = ir_map_get(map, ir_operand(m, end, i));
}

void split_merge_by_body(ir_builder *b, ir_block body, uint32_t n, ir_value *carries,
                         const ir_value *partials) {
  ir_value *args = ARENA_ARRAY(b->m->arena, ir_value, 2 * n);
  for (uint32_t i = 0; i < n; i++) args[i] = carries[i], args[n + i] = partials[i];
  split_lift(b, body, args, carries);
}

ir_value split_counts_for_nothing(ir_builder *b, ir_op op, uint32_t i, ir_value initial) {
  ir_kind kind = component_kind(b->m, ir_body(b->m, op), i);
  if (kind == IR_OP_UNKNOWN) return initial;
  uint32_t n = ir_op_get(b->m, op)->n_results;
  return split_neutral(b, kind, ir_type_of(b->m, initial), ir_operand(b->m, op, n + i));
}

static void any_reduce_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                            const ir_value *operands, ir_value *carries) {
  ir_module *m = b->m;
  uint32_t n = ir_op_get(m, op)->n_results;
  reduction r = {op, f, trip};
  ir_value *xs = ARENA_COPY(m->arena, ir_value, operands, 2 * n),
           *partials = ARENA_ARRAY(m->arena, ir_value, n);
  for (uint32_t i = 0; i < n; i++) {
    ir_dtype dtype = ir_type_at(m, carries[i])->dtype;
    xs[i] = ir_build_convert(b, operands[i], dtype);
    xs[n + i] = split_counts_for_nothing(b, op, i, ir_build_convert(b, operands[n + i], dtype));
    if (is_masked(m, &r, i))
      xs[i] = masked(b, &r, i, xs[i], splat_of(b, xs[n + i], ir_type_of(m, xs[i])));
  }
  ir_op partial = ir_build_again(b, op, xs, ir_types_of(m->arena, m, carries, n));
  for (uint32_t i = 0; i < n; i++) {
    partials[i] = ir_result(m, partial, i);
    if (widens(m, op, i)) widen_body(m, partial, i, ir_type_at(m, carries[i])->dtype);
  }
  split_merge_by_body(b, ir_body(m, partial), n, carries, partials);
}

static void reduce_init(ir_builder *b, ir_op op, const ir_value *outside, ir_value *carries) {
  uint32_t n = ir_op_get(b->m, op)->n_results;
  for (uint32_t i = 0; i < n; i++) {
    ir_type t = ir_type_of(b->m, ir_result(b->m, op, i));
    ir_dtype dtype = ir_type_get(b->m, t)->dtype;
    if (widens(b->m, op, i)) dtype = split_sum_dtype(dtype);
    carries[i] = splat_of(b, ir_build_convert(b, outside[n + i], dtype),
                          ir_tensor_with_dtype(b->m, t, dtype));
  }
}

/* ---- top-k of the k best so far in front of the slice: what came earlier wins ties, as in the
 * whole. The first trip begins with its own first k. ---- */

/* Below or equal to every element in XLA's total order: the negative NaN; the lowest integer. */
static ir_value worst(ir_builder *b, ir_type type) {
  ir_dtype d = ir_type_get(b->m, type)->dtype;
  static const unsigned char ones[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  if (ir_is_float(d)) return ir_build_constant(b, type, ones);
  return ir_build_splat_int(b, type, ir_lowest(d));
}

static int64_t best_count(const ir_module *m, ir_op op) { /* k */
  const ir_type_data *t = ir_type_at(m, ir_result(m, op, 0));
  return t->dims[t->rank - 1];
}

static ir_value first_k(ir_builder *b, ir_value x, int64_t k) {
  return ir_build_slice_dim(b, x, ir_type_at(b->m, x)->rank - 1, 0, k);
}

/* For carries that the first trip, or the trips together, write as a whole. */
static void unread_init(ir_builder *b, ir_op op, ir_value *carries) {
  for (uint32_t i = 0; i < ir_op_get(b->m, op)->n_results; i++)
    carries[i] = zeros_of(b, ir_type_of(b->m, ir_result(b->m, op, i)));
}

/* Positions in front of the slice are carried indices, the others count from the slice's start. */
static ir_value index_of_position(ir_builder *b, ir_value position, ir_value carried,
                                  ir_value start, int64_t k) {
  ir_type type = ir_type_of(b->m, position);
  ir_value last = ir_build_splat_int(b, type, k - 1), ks = ir_build_splat_int(b, type, k);
  ir_value old = ir_build_take_along(b, carried, ir_build_binary(b, IR_OP_MINIMUM, position, last),
                                     ir_type_at(b->m, carried)->rank - 1);
  ir_value origin = splat_of(b, ir_build_convert(b, start, ir_type_get(b->m, type)->dtype), type);
  ir_value fresh = ir_build_add(b, ir_build_subtract(b, position, ks), origin);
  return ir_build_select(b, ir_build_compare(b, "LT", position, ks), old, fresh);
}

static void top_k_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *carries) {
  ir_module *m = b->m;
  int64_t k = best_count(m, op);
  ir_type value = ir_type_of(m, carries[0]), index = ir_type_of(m, carries[1]);
  int32_t last = ir_type_get(m, value)->rank - 1;
  split_pos pos = f->operands[0];
  ir_value x = operands[0];
  if (split_is_one_trip(trip)) {
    CTX_CHECK(m->ctx, ir_type_of(m, x) == ir_type_of(m, ir_operand(m, op, 0)));
    ir_op all = ir_build_again(b, op, operands, (ir_type[]){value, index});
    for (uint32_t i = 0; i < 2; i++) carries[i] = ir_result(m, all, i);
    return;
  }
  ir_value zero = ir_build_int(b, 0);
  ir_value is_first = ir_build_compare(b, "EQ", trip->lo, zero);
  /* not counted yet: behind the first k of the first trip */
  ir_value counted = split_window_counted(b, trip, pos);
  ir_value first = ir_build_int(b, k);
  split_interval beyond = {ir_build_select(b, is_first, first, counted), IR_NONE};
  ir_value values = ir_build_select(b, is_first, first_k(b, x, k), carries[0]);
  ir_value indices = ir_build_select(b, is_first, ir_build_iota(b, index, last), carries[1]);
  ir_value is_rest = split_window_mask(b, ir_type_of(m, x), pos.dim, beyond);
  ir_value rest = ir_build_select(b, is_rest, x, worst(b, ir_type_of(m, x)));
  ir_value all = ir_build_concatenate(b, (ir_value[]){values, rest}, 2, last);
  ir_op best = ir_build_again(b, op, &all, (ir_type[]){value, index});
  carries[0] = ir_result(m, best, 0);
  carries[1] =
      index_of_position(b, ir_result(m, best, 1), indices, split_window_start(b, trip, pos), k);
}

/* ---- scatter: each slice of updates goes into what the slices before left; counted updates are
 * sent out of bounds, where scatter drops them ---- */
static void scatter_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                         const ir_value *operands, ir_value *carries) {
  ir_module *m = b->m;
  ir_value indices = operands[1];
  reduction r = {op, f, trip};
  if (is_masked(m, &r, 1)) indices = masked(b, &r, 1, indices, ir_build_int_like(b, indices, -1));
  ir_type type = ir_type_of(m, carries[0]);
  ir_op part = ir_build_again(b, op, (ir_value[]){carries[0], indices, operands[2]}, &type);
  carries[0] = ir_result(m, part, 0);
}

static bool scatter_can_drop(arena *scratch, ir_module *m, ir_op op, const split_factor *f) {
  ir_gather_numbers n;
  return f->operands[1].dim >= 0 && ir_gather_dims(scratch, m, op, &n) &&
         n.start_index_map.count > 0 &&
         ir_dtype_class_of(ir_type_at(m, ir_operand(m, op, 1))->dtype) == IR_CLASS_INT;
}

/* ---- dynamic_slice of a part: each trip leaves in the carry what of the part lies in its window
 * ---- */
static void part_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                      const ir_value *operands, ir_value *carries) {
  split_pos pos = f->operands[0];
  ir_value first = IR_NONE; /* of the part, along pos.dim */
  ir_value window = split_tile_dynamic_slice(b, op, pos, trip, operands, &first);
  ir_value at = split_window_start(b, trip, pos);
  at = ir_build_subtract(b, at, first);
  carries[0] = split_window_write(b, carries[0], window, pos.dim, at);
}

/* ---- dynamic_update_slice: each trip puts its window of the update ---- */
/* A part of what is updated, where the update's window lies, with as much of it as there is. */
static ir_value updated_part(ir_builder *b, const reduction *r, ir_value part, ir_value update,
                             const ir_value *starts) {
  split_pos pos = r->f->operands[1];
  ir_value *others = ARENA_COPY(b->m->arena, ir_value, starts, ir_type_at(b->m, part)->rank);
  others[pos.dim] = ir_build_int(b, 0);
  ir_value over = ir_build_dynamic_update_slice(b, part, update, others);
  split_interval inside =
      split_window_inside(b, split_window_start(b, r->trip, pos), size_along(b->m, r, 1),
                          split_window_size(pos, r->trip->slice));
  ir_value mask = split_window_mask(b, ir_type_of(b->m, part), pos.dim, inside);
  return mask ? ir_build_select(b, mask, over, part) : over;
}

static void update_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                        const ir_value *operands, ir_value *carries) {
  ir_module *m = b->m;
  reduction r = {op, f, trip};
  split_pos pos = f->operands[1];
  int32_t rank = ir_type_at(m, carries[0])->rank;
  ir_value *starts = ARENA_ARRAY(m->arena, ir_value, (uint32_t)rank);
  for (int32_t d = 0; d < rank; d++) starts[d] = ir_build_convert(b, operands[2 + d], IR_I64);
  ir_value at = split_window_start(b, trip, pos);
  starts[pos.dim] = ir_build_add(b, at, starts[pos.dim]);
  if (split_window_fits(trip, pos, size_along(m, &r, 1))) {
    carries[0] = ir_build_dynamic_update_slice(b, carries[0], operands[1], starts);
    return;
  }
  int64_t n = split_window_size(pos, trip->slice);
  ir_value part = split_window_read(b, carries[0], pos.dim, starts[pos.dim], n);
  part = updated_part(b, &r, part, operands[1], starts);
  carries[0] = split_window_write(b, carries[0], part, pos.dim, starts[pos.dim]);
}

/* ---- dispatch ---- */
bool split_can_merge(arena *scratch, ir_module *m, ir_op op, const split_factor *f) {
  ir_dtype d = ir_type_at(m, ir_operand(m, op, 0))->dtype;
  switch (ir_kind_of(m, op)) {
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL:
    case IR_OP_CONVOLUTION:
      return d != IR_F8E8M0FNU && split_has_neutral(IR_OP_ADD, d) &&
             split_has_neutral(IR_OP_ADD, ir_type_at(m, ir_result(m, op, 0))->dtype);
    case IR_OP_REDUCE:
      if (reducer(m, op) != IR_OP_UNKNOWN) return split_has_neutral(reducer(m, op), d);
      return !f->operands[0].mirrored && is_liftable(m, op);
    case IR_OP_CHLO_TOP_K: return ir_type_at(m, ir_result(m, op, 1))->dtype == IR_I32;
    case IR_OP_SCATTER: return scatter_can_drop(scratch, m, op, f);
    case IR_OP_DYNAMIC_UPDATE_SLICE: return true;
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_GATHER: return d != IR_F8E8M0FNU;
    default: return false;
  }
}

bool split_goes_on_with(const ir_module *m, ir_op op, ir_value sum) {
  ir_op first = ir_value_get(m, sum)->op;
  if (ir_kind_of(m, op) != IR_OP_SCATTER || !first || ir_kind_of(m, first) != IR_OP_SCATTER)
    return false;
  if (ir_op_get(m, op)->n_operands != 3 || ir_op_get(m, first)->n_operands != 3) return false;
  if (ir_operand(m, op, 1) == sum || ir_operand(m, op, 2) == sum) return false;
  ir_kind kind = ir_reducer_kind(m, ir_body(m, op));
  ir_dtype dtype = ir_type_at(m, sum)->dtype;
  bool rounds = kind == IR_OP_ADD || kind == IR_OP_MULTIPLY; /* in 16 bits the order is seen */
  if (rounds && split_sum_dtype(dtype) != dtype) return false;
  return kind != IR_OP_UNKNOWN && kind == ir_reducer_kind(m, ir_body(m, first));
}

bool split_is_sum(arena *scratch, ir_module *m, ir_op op, const split_factor *f) {
  if (!split_can_merge(scratch, m, op, f)) return false;
  switch (ir_kind_of(m, op)) {
    case IR_OP_DOT:
    case IR_OP_DOT_GENERAL:
    case IR_OP_CONVOLUTION: return true;
    case IR_OP_REDUCE: return ir_adds_up(m, op);
    default: return false;
  }
}

ir_value split_sum_part(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                        const ir_value *operands) {
  ir_type type = split_sum_type(b->m, op);
  return ir_kind_of(b->m, op) == IR_OP_REDUCE ? reduce_part(b, op, f, trip, operands, type)
                                              : product_part(b, op, f, trip, operands, type);
}

bool split_monoid_needs_all(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_CHLO_TOP_K;
}

int64_t split_monoid_least_slice(const ir_module *m, ir_op op, const split_factor *f) {
  if (ir_kind_of(m, op) != IR_OP_CHLO_TOP_K || f->operands[0].dim < 0) return 1;
  int64_t k = best_count(m, op), unit = f->operands[0].unit;
  return k / unit + (k % unit != 0);
}

void split_monoid_init(ir_builder *b, ir_op op, const ir_value *outside, ir_value *out_carries) {
  switch (ir_kind_of(b->m, op)) {
    case IR_OP_REDUCE: reduce_init(b, op, outside, out_carries); return;
    case IR_OP_DYNAMIC_SLICE:
    case IR_OP_GATHER:
    case IR_OP_CHLO_TOP_K: unread_init(b, op, out_carries); return;
    case IR_OP_DYNAMIC_UPDATE_SLICE:
    case IR_OP_SCATTER: out_carries[0] = outside[0]; return;
    default: product_init(b, op, out_carries); return;
  }
}

void split_monoid_step(ir_builder *b, ir_op op, const split_factor *f, const split_trip *trip,
                       const ir_value *operands, ir_value *carries) {
  switch (ir_kind_of(b->m, op)) {
    case IR_OP_REDUCE:
      if (reducer(b->m, op) != IR_OP_UNKNOWN) reduce_step(b, op, f, trip, operands, carries);
      else any_reduce_step(b, op, f, trip, operands, carries);
      return;
    case IR_OP_CHLO_TOP_K: top_k_step(b, op, f, trip, operands, carries); return;
    case IR_OP_SCATTER: scatter_step(b, op, f, trip, operands, carries); return;
    case IR_OP_DYNAMIC_UPDATE_SLICE: update_step(b, op, f, trip, operands, carries); return;
    case IR_OP_GATHER:
      carries[0] =
          split_gather_step(b, op, f->operands[0], trip, operands[0], operands[1], carries[0]);
      return;
    case IR_OP_DYNAMIC_SLICE: part_step(b, op, f, trip, operands, carries); return;
    default: product_step(b, op, f, trip, operands, carries); return;
  }
}

void split_monoid_finish(ir_builder *b, ir_op op, const ir_value *carries, ir_value *out_results) {
  for (uint32_t i = 0; i < ir_op_get(b->m, op)->n_results; i++)
    out_results[i] =
        ir_build_convert(b, carries[i], ir_type_at(b->m, ir_result(b->m, op, i))->dtype);
}
