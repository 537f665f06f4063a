/* blocks: a prefix sum that one from the other end depends on, as prefix sums of blocks.
 *
 *   s = prefix(x)  ->  y = x in blocks;  s = prefix(y) in each block . prefix(totals of the blocks
 * before)
 *
 * A loop over slices carries a prefix sum from slice to slice, in one direction. What depends on
 * two in opposite directions (the gradient of f(cumsum(x)), a suffix sum of f'(cumsum(x))) would
 * hold the first. In blocks it has no direction: one loop makes the blocks' totals, which are few,
 * and any other, in any order, makes what it needs of s again from its block.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Sums and products
 * of floats are rounded in another order. Left alone: prefix sums of which no other depends in the
 * opposite direction along as many elements, 16-bit floats, reducers of several ops, what is small
 * against the limit. Cost: linear for each prefix sum. Source: Blelloch 1990, scan-then-propagate.
 */
#include <math.h>

#include "pass/build.h"

/* ---- which ---- */
static bool is_wide(ir_dtype d) { return ir_dtype_bytes(d) >= 4 && !ir_is_complex(d); }

/* Adding it changes nothing, or nothing more than once. */
static bool is_neutral(const ir_module *m, ir_kind kind, ir_value initial) {
  int64_t one;
  if (kind == IR_OP_ADD) return ir_is_zero(m, initial);
  if (kind == IR_OP_MULTIPLY)
    return ir_is_splat_real(m, initial, 1) || (ir_splat_int(m, initial, &one) && one == 1);
  return kind == IR_OP_MAXIMUM || kind == IR_OP_MINIMUM;
}

/* The only dimension along which windows are longer than 1; *out_direction: ir_prefix_along. -1:
 * the op is no prefix sum. */
static int32_t prefix_dim(const pass_rewrite *f, ir_op op, int *out_direction) {
  int32_t n, found = -1;
  if (ir_kind_of(f->m, op) != IR_OP_REDUCE_WINDOW || ir_op_get(f->m, op)->n_operands != 2 ||
      !pass_is_static(f->m, op))
    return -1;
  const int64_t *window = ir_op_ints(f->m, op, "window_dimensions", &n);
  for (int32_t d = 0; d < n; d++) {
    if (window[d] == 1) continue;
    if (found >= 0) return -1;
    found = d;
  }
  *out_direction = found >= 0 ? ir_prefix_along(f->m, op, found) : 0;
  return *out_direction ? found : -1;
}

/* About the root, so that totals are as few as a block's elements; a divisor if one is near. */
static int64_t block_length(int64_t n) {
  int64_t root = (int64_t)ceil(sqrt((double)n));
  for (int64_t by = 0; by <= root / 2; by++) {
    if (n % (root + by) == 0) return root + by;
    if (n % (root - by) == 0) return root - by;
  }
  return root;
}

static bool may_be_in_blocks(const pass_rewrite *f, ir_op op) {
  int direction;
  int32_t dim = prefix_dim(f, op, &direction);
  ir_value x = ir_operand(f->m, op, 0), y = ir_result(f->m, op, 0);
  const ir_type_data *t = ir_type_at(f->m, x);
  return dim >= 0 && ir_type_of(f->m, x) == ir_type_of(f->m, y) && is_wide(t->dtype) &&
         t->rank < IR_MAX_RANK && ir_value_bytes(f->m, y) > f->small_bytes &&
         block_length(t->dims[dim]) < t->dims[dim] &&
         is_neutral(f->m, ir_reducer_kind(f->m, ir_body(f->m, op)), ir_operand(f->m, op, 1));
}

static bool reads(const ir_module *m, ir_op op, const bool *depends) {
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (depends[d->operands[i]]) return true;
  return false;
}

/* Prefix sums from the other end, over as many elements, that depend on this one: they go in
 * blocks, all of them. */
static void find_opposites(const pass_rewrite *f, ir_block block, ir_op op) {
  int direction, other;
  int64_t length = ir_type_at(f->m, ir_result(f->m, op, 0))->dims[prefix_dim(f, op, &direction)];
  bool *depends = ARENA_ARRAY(f->p->scratch, bool, f->m->values.count), *goes = f->own;
  depends[ir_result(f->m, op, 0)] = true;
  for (ir_op user, i = 0; (user = ir_op_at(f->m, block, i)); i++) {
    if (!reads(f->m, user, depends)) continue;
    int32_t dim = prefix_dim(f, user, &other);
    if (dim >= 0 && other != direction &&
        ir_type_at(f->m, ir_result(f->m, user, 0))->dims[dim] == length &&
        may_be_in_blocks(f, user))
      goes[op] = goes[user] = true;
    for (uint32_t j = 0; j < ir_op_get(f->m, user)->n_results; j++)
      depends[ir_result(f->m, user, j)] = true;
  }
}

/* ---- in blocks ---- */
static ir_value padded_to(ir_builder *b, ir_value x, int32_t dim, int64_t low, int64_t high,
                          ir_value fill) {
  int64_t lows[IR_MAX_RANK] = {0}, highs[IR_MAX_RANK] = {0};
  if (!low && !high) return x;
  lows[dim] = low, highs[dim] = high;
  return ir_build_pad(b, x, fill, lows, highs);
}

/* Dimension `dim` as two. */
static ir_type blocked_type(ir_module *m, ir_value x, int32_t dim, int64_t length) {
  const ir_type_data *t = ir_type_at(m, x);
  int64_t dims[IR_MAX_RANK];
  for (int32_t d = 0; d <= t->rank; d++) dims[d] = t->dims[d > dim ? d - 1 : d];
  CTX_CHECK(m->ctx, t->dims[dim] % length == 0);
  dims[dim] = t->dims[dim] / length;
  dims[dim + 1] = length;
  return ir_tensor(m, t->dtype, t->rank + 1, dims);
}

static ir_value prefix_along(ir_builder *b, ir_op op, ir_value x, int32_t dim, int direction) {
  ir_module *m = b->m;
  ir_type type = ir_type_of(m, x);
  int32_t rank = ir_type_get(m, type)->rank;
  int64_t size = ir_type_get(m, type)->dims[dim], window[IR_MAX_RANK], pad[2 * IR_MAX_RANK] = {0},
          shape[] = {rank, 2};
  for (int32_t d = 0; d < rank; d++) window[d] = d == dim ? size : 1;
  pad[2 * dim + (direction < 0)] = size - 1;
  ir_op made = ir_build_again(b, op, (ir_value[]){x, ir_operand(m, op, 1)}, &type);
  static const char *const gone[] = {"window_strides", "base_dilations", "window_dilations"};
  for (int i = 0; i < 3; i++) ir_op_drop_attr(m, made, gone[i]);
  ir_op_set_attr(m, made, "window_dimensions", ir_attr_i64s(m, window, rank), true);
  ir_op_set_attr(m, made, "padding", ir_attr_dense(m, ir_tensor(m, IR_I64, 2, shape), pad, false),
                 true);
  return ir_result(m, made, 0);
}

/* Of the blocks before each, all together. */
static ir_value before(ir_builder *b, ir_op op, ir_value totals, int32_t dim, int direction) {
  int64_t n = ir_type_at(b->m, totals)->dims[dim];
  ir_value others = ir_build_slice_dim(b, totals, dim, direction < 0, n - 1);
  others = padded_to(b, others, dim, direction > 0, direction < 0, ir_operand(b->m, op, 1));
  return prefix_along(b, op, others, dim, direction);
}

static ir_value in_blocks(const pass_rewrite *f, ir_builder *b, ir_op op) {
  int direction;
  ir_module *m = f->m;
  int32_t dim = prefix_dim(f, op, &direction);
  CTX_CHECK(m->ctx, dim >= 0);
  ir_kind kind = ir_reducer_kind(m, ir_body(m, op));
  ir_value x = ir_operand(m, op, 0), initial = ir_operand(m, op, 1);
  int64_t n = ir_type_at(m, x)->dims[dim], length = block_length(n), to[IR_MAX_RANK];
  x = padded_to(b, x, dim, 0, (length - n % length) % length, initial);
  ir_type long_type = ir_type_of(m, x), type = blocked_type(m, x, dim, length);
  x = ir_build_reshape(b, x, type);
  ir_value totals = ir_build_reduce(b, kind, x, initial, (int64_t[]){dim + 1}, 1);
  for (int32_t d = 0; d < ir_type_get(m, type)->rank - 1; d++) to[d] = d > dim ? d + 1 : d;
  ir_value behind = ir_build_broadcast(b, before(b, op, totals, dim, direction), type, to);
  ir_value y = ir_build_binary(b, kind, behind, prefix_along(b, op, x, dim + 1, direction));
  y = ir_build_reshape(b, y, long_type);
  return ir_type_get(m, long_type)->dims[dim] == n ? y : ir_build_slice_dim(b, y, dim, 0, n);
}

/* By op: whether it goes in blocks. */
static bool begin(pass_rewrite *f) {
  f->own = ARENA_ARRAY(f->p->scratch, bool, f->m->ops.count);
  for (ir_walk w = ir_walk_block(f->m, ir_top(f->m)); ir_next(&w);)
    if (ir_kind_of(f->m, w.op) == IR_OP_REDUCE_WINDOW && may_be_in_blocks(f, w.op))
      find_opposites(f, ir_op_get(f->m, w.op)->block, w.op);
  return true;
}

static bool replace(pass_rewrite *f, ir_op op) {
  const bool *goes = f->own;
  if (!goes[op]) return false;
  return pass_stand_in(f->m, f->map, op, in_blocks(f, &f->b, op));
}

const pass pass_blocks = {"blocks", .replace = replace, .begin = begin};
