#include "split/prefix.h"

#include "ir/attrs.h"
#include "split/tile_op.h"
#include "split/window.h"

/* ---- what can be carried ---- */
static bool is_single(ir_module *m, ir_op op, int64_t dim) {
  return ir_op_entry(m, op, "window_dimensions", dim, 1) == 1 &&
         ir_op_entry(m, op, "window_strides", dim, 1) == 1 &&
         ir_op_entry(m, op, "base_dilations", dim, 1) == 1 &&
         ir_op_entry(m, op, "padding", 2 * dim, 0) == 0 &&
         ir_op_entry(m, op, "padding", 2 * dim + 1, 0) == 0;
}

/* Narrow floats only where nothing is rounded, or in f32. A reducer of several ops may be given the
 * initial value any number of times, as StableHLO has it. */
static bool can_carry(const ir_module *m, ir_op op) {
  ir_dtype d = ir_type_at(m, ir_operand(m, op, 0))->dtype;
  ir_kind kind = ir_reducer_kind(m, ir_body(m, op));
  bool narrow = split_sum_dtype(d) != d;
  if (ir_type_at(m, ir_result(m, op, 0))->dtype != d) return false;
  if (kind != IR_OP_UNKNOWN)
    return split_has_neutral(kind, d) && !(narrow && kind == IR_OP_MULTIPLY);
  return !narrow && split_is_elementwise(m, ir_body(m, op));
}

split_direction split_prefix_along(ir_module *m, ir_op op, int64_t dim) {
  if (ir_kind_of(m, op) != IR_OP_REDUCE_WINDOW || ir_op_get(m, op)->n_operands != 2)
    return SPLIT_NO_PREFIX;
  for (int64_t d = 0; d < ir_type_at(m, ir_operand(m, op, 0))->rank; d++)
    if (d != dim && !is_single(m, op, d)) return SPLIT_NO_PREFIX;
  int along = can_carry(m, op) ? ir_prefix_along(m, op, dim) : 0;
  return along > 0 ? SPLIT_FORWARD : along < 0 ? SPLIT_BACKWARD : SPLIT_NO_PREFIX;
}

/* ---- the loop ---- */
static ir_dtype inside_dtype(const ir_module *m, ir_op op) {
  ir_dtype d = ir_type_at(m, ir_operand(m, op, 0))->dtype;
  return ir_reducer_kind(m, ir_body(m, op)) == IR_OP_ADD ? split_sum_dtype(d) : d;
}

/* The op's type with this many elements along the factor, as it is carried. */
static ir_type part_type(ir_module *m, ir_op op, int64_t dim, int64_t size) {
  ir_type whole = ir_tensor_with_dtype(m, ir_type_of(m, ir_operand(m, op, 0)), inside_dtype(m, op));
  return ir_tensor_with_dim(m, whole, (int32_t)dim, size);
}

ir_value split_prefix_init(ir_builder *b, ir_op op, split_pos pos, int64_t slice, int64_t behind,
                           ir_value initial) {
  int64_t size = behind ? (slice + behind) * pos.unit : 1;
  ir_type type = part_type(b->m, op, pos.dim, size);
  return ir_build_broadcast(b, ir_build_convert(b, initial, inside_dtype(b->m, op)), type, NULL);
}

static bool carries_one(ir_builder *b, split_pos pos, ir_value carry) {
  return ir_type_at(b->m, carry)->dims[pos.dim] == 1;
}

/* What stands before the slice, or behind it: as many elements of the carry as it has besides a
 * slice, or the one that it is. */
static ir_value before(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                       ir_value carry) {
  int64_t far = ir_type_at(b->m, carry)->dims[pos.dim] - trip->slice * pos.unit;
  bool forward = split_prefix_along(b->m, op, pos.dim) == SPLIT_FORWARD;
  if (carries_one(b, pos, carry)) return carry;
  ir_value at = forward ? ir_build_subtract(b, trip->start, trip->lo)
                        : ir_build_subtract(b, trip->lo, trip->start);
  if (forward) at = ir_build_add(b, at, ir_build_int(b, trip->slice));
  at = ir_build_multiply(b, at, ir_build_int(b, pos.unit));
  return ir_build_part(b, carry, pos.dim, at, far);
}

/* Of y, the op's result on the slice, the element that the next trip's slice begins behind. Behind
 * the last trip there is none, and nobody reads what this is then. */
static ir_value next_before(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                            ir_value y) {
  bool forward = split_prefix_along(b->m, op, pos.dim) == SPLIT_FORWARD;
  ir_value next = ir_build_add(b, trip->lo, ir_build_int(b, trip->slice)),
           last = ir_build_int(b, trip->extent - trip->slice),
           by = ir_build_binary(b, IR_OP_MINIMUM, next, last);
  by = ir_build_subtract(b, by, trip->start);
  if (!forward) by = ir_build_subtract(b, ir_build_int(b, trip->slice), by);
  ir_value at = ir_build_multiply(b, by, ir_build_int(b, pos.unit));
  if (forward) at = ir_build_subtract(b, at, ir_build_int(b, 1));
  return ir_build_part(b, y, pos.dim, at, 1);
}

/* The op on the slice alone. */
static ir_value prefixes(ir_builder *b, ir_op op, split_pos pos, ir_value x, ir_value initial) {
  ir_module *m = b->m;
  ir_type type = ir_type_of(m, x);
  ir_dtype dtype = ir_type_get(m, type)->dtype;
  int64_t size = ir_type_get(m, type)->dims[pos.dim];
  ir_kind kind = ir_reducer_kind(m, ir_body(m, op));
  bool forward = split_prefix_along(m, op, pos.dim) == SPLIT_FORWARD;
  if (kind != IR_OP_UNKNOWN) initial = split_neutral(b, kind, ir_scalar(m, dtype), initial);
  ir_op part = ir_build_again(b, op, (ir_value[]){x, initial}, &type);
  split_set_entry(m, part, "window_dimensions", pos.dim, size);
  split_set_entry(m, part, "padding", 2 * pos.dim + !forward, size - 1);
  if (ir_type_at(m, ir_operand(m, op, 0))->dtype != dtype) ir_build_reducer(b, part, kind, dtype);
  return ir_result(m, part, 0);
}

/* Of the window those elements in front of the first are none: they count as neutral. */
static ir_value from_the_first(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                               ir_value x, ir_value initial) {
  ir_module *m = b->m;
  ir_kind kind = ir_reducer_kind(m, ir_body(m, op));
  ir_type type = ir_type_of(m, x);
  int64_t size = ir_type_at(m, ir_operand(m, op, 0))->dims[pos.dim];
  if (split_window_fits(trip, pos, size)) return x;
  ir_value at = split_window_start(b, trip, pos), none = initial;
  split_interval in = split_window_inside(b, at, size, trip->slice * pos.unit);
  if (pos.mirrored) in.first = IR_NONE;
  else in.last = IR_NONE;
  if (kind != IR_OP_UNKNOWN)
    none = split_neutral(b, kind, ir_scalar(m, ir_type_get(m, type)->dtype), initial);
  ir_value is_in = split_window_mask(b, type, pos.dim, in);
  return is_in ? ir_build_select(b, is_in, x, ir_build_broadcast(b, none, type, NULL)) : x;
}

static void check_begins(ir_module *m, ir_op op, split_pos pos, const split_trip *trip) {
  int64_t size = ir_type_at(m, ir_operand(m, op, 0))->dims[pos.dim], by = trip->begin * pos.unit;
  CTX_CHECK(m->ctx, pos.mirrored ? pos.offset - by >= size - pos.unit : pos.offset + by <= 0);
}

/* x . y, x standing before y. */
static ir_value merged(ir_builder *b, ir_op op, ir_value x, ir_value y) {
  ir_kind kind = ir_reducer_kind(b->m, ir_body(b->m, op));
  if (kind != IR_OP_UNKNOWN) return ir_build_binary(b, kind, x, y);
  split_merge_by_body(b, ir_body(b->m, op), 1, &x, &y);
  return x;
}

ir_value split_prefix_step(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                           const ir_value *operands, ir_value *carry) {
  ir_module *m = b->m;
  bool forward = split_prefix_along(m, op, pos.dim) == SPLIT_FORWARD;
  ir_value x = ir_build_convert(b, operands[0], inside_dtype(m, op));
  check_begins(m, op, pos, trip);
  x = from_the_first(b, op, pos, trip, x, operands[1]);
  ir_value far = before(b, op, pos, trip, *carry);
  int64_t last = forward ? ir_type_at(m, far)->dims[pos.dim] - 1 : 0;
  ir_value part = prefixes(b, op, pos, x, operands[1]);
  ir_value one =
      ir_build_along(b, ir_build_slice_dim(b, far, pos.dim, last, 1), ir_type_of(m, part), pos.dim);
  part = forward ? merged(b, op, one, part) : merged(b, op, part, one);
  ir_value ends[] = {forward ? far : part, forward ? part : far};
  *carry = carries_one(b, pos, *carry) ? next_before(b, op, pos, trip, part)
                                       : ir_build_concatenate(b, ends, 2, pos.dim);
  return ir_build_convert(b, part, ir_type_at(m, operands[0])->dtype);
}

ir_value split_prefix_behind(ir_builder *b, ir_op op, split_pos pos, const split_trip *trip,
                             int64_t behind, ir_value carry) {
  bool forward = split_prefix_along(b->m, op, pos.dim) == SPLIT_FORWARD;
  int64_t size = trip->slice * pos.unit, by = behind * pos.unit;
  int64_t at = forward ? ir_type_at(b->m, carry)->dims[pos.dim] - size - by : by;
  ir_value part = ir_build_slice_dim(b, carry, pos.dim, at, size);
  return ir_build_convert(b, part, ir_type_at(b->m, ir_result(b->m, op, 0))->dtype);
}
