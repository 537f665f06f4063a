#include "split/window.h"

#include "base/ints.h"
#include "ir/attrs.h"
#include "ir/fold.h"

/* ---- scalars: numbers where the trip's start is one ---- */

static int64_t clamped_int(int64_t x, int64_t low, int64_t high) {
  return min64(x < low ? low : x, high);
}

static bool is_known(const ir_builder *b, ir_value x, int64_t *out_number) {
  return x && ir_splat_int(b->m, x, out_number);
}

static ir_value plus(ir_builder *b, ir_value x, int64_t y) {
  int64_t n;
  if (is_known(b, x, &n) && !__builtin_add_overflow(n, y, &n)) return ir_build_int(b, n);
  return y ? ir_build_add(b, x, ir_build_int(b, y)) : x;
}

static ir_value times(ir_builder *b, ir_value x, int64_t y) {
  int64_t n;
  if (is_known(b, x, &n) && !__builtin_mul_overflow(n, y, &n)) return ir_build_int(b, n);
  return y == 1 ? x : ir_build_multiply(b, x, ir_build_int(b, y));
}

static ir_value minus(ir_builder *b, ir_value x, ir_value y) {
  int64_t n, k;
  if (is_known(b, x, &n) && is_known(b, y, &k) && !__builtin_sub_overflow(n, k, &n))
    return ir_build_int(b, n);
  return ir_build_subtract(b, x, y);
}

static ir_value clamped(ir_builder *b, ir_value x, int64_t low, int64_t high) {
  int64_t n;
  if (is_known(b, x, &n)) return ir_build_int(b, clamped_int(n, low, high));
  return ir_build_clamped(b, x, low, high);
}

/* ---- where windows lie ---- */
ir_value split_window_start(ir_builder *b, const split_trip *trip, split_pos pos) {
  int64_t first = trip->begin * pos.unit, slice = trip->slice * pos.unit;
  ir_value by = times(b, trip->start, pos.unit);
  if (!pos.mirrored) return plus(b, by, first + pos.offset);
  return minus(b, ir_build_int(b, pos.offset - first - slice + pos.unit), by);
}

bool split_window_fits(const split_trip *trip, split_pos pos, int64_t size) {
  int64_t first = trip->begin * pos.unit, last = first + (trip->extent - 1) * pos.unit;
  int64_t low = pos.mirrored ? pos.offset - last : pos.offset + first;
  int64_t high = pos.mirrored ? pos.offset - first : pos.offset + last;
  return low >= 0 && high + split_window_size(pos, 1) <= size;
}

/* A window that fits is read at `at` in every trip, as dynamic_slice does not move it. */
static void check_fits(const ir_builder *b, const split_trip *trip, split_pos pos, int64_t size) {
  int64_t last = trip->begin + trip->extent - trip->slice; /* where the last trip starts */
  int64_t ends[] = {trip->begin, last};
  for (int32_t i = 0; i < 2; i++) {
    int64_t at = pos.mirrored ? -ends[i] - trip->slice + 1 : ends[i];
    int64_t first = at * pos.unit + pos.offset;
    CTX_CHECK(b->m->ctx, first >= 0 && first + split_window_size(pos, trip->slice) <= size);
  }
}

bool split_window_is_slice(const split_trip *trip, split_pos pos, int64_t size) {
  return !pos.mirrored && !pos.more && pos.offset + trip->begin * pos.unit == 0 &&
         size == trip->extent * pos.unit;
}

/* ---- masks ---- */
static ir_value both(ir_builder *b, ir_kind kind, ir_value x, ir_value y) {
  return !x ? y : !y ? x : ir_build_binary(b, kind, x, y);
}

static bool is_number(const ir_builder *b, ir_value x, int64_t number) {
  int64_t n;
  return is_known(b, x, &n) && n == number;
}

split_interval split_window_inside(ir_builder *b, ir_value at, int64_t size, int64_t n) {
  split_interval in = {clamped(b, minus(b, ir_build_int(b, 0), at), 0, n),
                       clamped(b, minus(b, ir_build_int(b, size), at), 0, n)};
  if (is_number(b, in.first, 0)) in.first = IR_NONE;
  if (is_number(b, in.last, n)) in.last = IR_NONE;
  return in;
}

ir_value split_window_counted(ir_builder *b, const split_trip *trip, split_pos pos) {
  return times(b, minus(b, trip->lo, trip->start), pos.unit);
}

split_interval split_window_fresh(ir_builder *b, const split_trip *trip, split_pos pos,
                                  int64_t size) {
  split_interval all = {IR_NONE, IR_NONE};
  int64_t n = trip->slice * pos.unit;
  CTX_CHECK(b->m->ctx, !pos.more); /* what two trips have would be counted twice */
  if (trip->extent % trip->slice) {
    ir_value counted = split_window_counted(b, trip, pos);
    if (pos.mirrored) all.last = minus(b, ir_build_int(b, n), counted);
    else all.first = counted;
  }
  if (split_window_fits(trip, pos, size)) {
    check_fits(b, trip, pos, size);
    return all;
  }
  split_interval inside = split_window_inside(b, split_window_start(b, trip, pos), size, n);
  return (split_interval){both(b, IR_OP_MAXIMUM, all.first, inside.first),
                          both(b, IR_OP_MINIMUM, all.last, inside.last)};
}

static ir_value compared(ir_builder *b, ir_value line, const char *direction, ir_value bound) {
  ir_type type = ir_type_of(b->m, line);
  ir_value x = ir_build_convert(b, bound, ir_type_get(b->m, type)->dtype);
  return ir_build_compare(b, direction, line, ir_build_broadcast(b, x, type, NULL));
}

ir_value split_window_mask(ir_builder *b, ir_type type, int64_t dim, split_interval interval) {
  ir_module *m = b->m;
  int64_t size = ir_type_get(m, type)->dims[dim];
  if (!interval.first && !interval.last) return IR_NONE;
  /* no wider than what is masked, as a rule */
  ir_type line_type = ir_tensor(m, size <= INT32_MAX ? IR_I32 : IR_I64, 1, &size);
  ir_value line = ir_build_iota(b, line_type, 0);
  ir_value above = interval.first ? compared(b, line, "GE", interval.first) : IR_NONE;
  ir_value below = interval.last ? compared(b, line, "LT", interval.last) : IR_NONE;
  type = ir_tensor_with_dtype(m, type, IR_I1);
  return ir_build_broadcast(b, both(b, IR_OP_AND, above, below), type, &dim);
}

/* ---- from the whole and back ---- */
static ir_value part_of(ir_builder *b, ir_value x, int64_t dim, ir_value at, int64_t size) {
  ir_module *m = b->m;
  int64_t first;
  if (is_known(b, at, &first))
    return size == ir_type_at(m, x)->dims[dim] ? x : ir_build_slice_dim(b, x, dim, first, size);
  return ir_build_part(b, x, dim, at, size);
}

static ir_value with_part(ir_builder *b, ir_value x, ir_value part, int64_t dim, ir_value at) {
  int64_t first;
  if (is_known(b, at, &first) && ir_type_of(b->m, part) == ir_type_of(b->m, x)) return part;
  return ir_build_with_part(b, x, part, dim, at);
}

ir_value split_window_read(ir_builder *b, ir_value x, int64_t dim, ir_value at, int64_t size) {
  int64_t first, last = ir_type_at(b->m, x)->dims[dim] - size;
  bool is_part =
      is_known(b, at, &first) && last >= 0 && (size == 1 || (first >= 0 && first <= last));
  if (is_part) return part_of(b, x, dim, clamped(b, at, 0, last), size);
  ir_type line = ir_tensor(b->m, IR_I64, 1, &size);
  ir_value indices =
      ir_build_add(b, ir_build_iota(b, line, 0), ir_build_broadcast(b, at, line, NULL));
  ir_value end = ir_build_splat_int(b, line, ir_type_at(b->m, x)->dims[dim] - 1);
  indices = ir_build_binary(b, IR_OP_MAXIMUM, indices, ir_build_splat_int(b, line, 0));
  return ir_build_rows(b, x, dim, ir_build_binary(b, IR_OP_MINIMUM, indices, end));
}

/* A window that reaches a little beyond an end, in some trips: the part that there is, moved to its
 * place among zeros. IR_NONE: it reaches too far for that. */
static ir_value read_at_ends(ir_builder *b, const split_trip *trip, ir_value x, split_pos pos) {
  ir_module *m = b->m;
  int64_t n = split_window_size(pos, trip->slice), whole = ir_type_at(m, x)->dims[pos.dim];
  int64_t first = trip->begin * pos.unit + pos.offset,
          last = first + (trip->extent - trip->slice) * pos.unit;
  int64_t low = first < 0 ? -first : 0, high = last + n > whole ? last + n - whole : 0;
  if (pos.mirrored || n > whole || low > n || high > n) return IR_NONE;
  ir_value at = split_window_start(b, trip, pos), from = clamped(b, at, 0, whole - n);
  ir_value part = part_of(b, x, pos.dim, from, n);
  ir_value zero = ir_build_splat_int(b, ir_scalar(m, ir_type_at(m, x)->dtype), 0);
  int64_t lows[IR_MAX_RANK] = {0}, highs[IR_MAX_RANK] = {0};
  lows[pos.dim] = low, highs[pos.dim] = high;
  ir_value wide = ir_build_pad(b, part, zero, lows, highs);
  return part_of(b, wide, pos.dim, plus(b, minus(b, at, from), low), n);
}

ir_value split_window_part(ir_builder *b, const split_trip *trip, ir_value x, split_pos whole,
                           split_pos part) {
  CTX_CHECK(b->m->ctx, split_contains(whole, part));
  return ir_build_slice_dim(b, x, part.dim, part.offset - whole.offset,
                            split_window_size(part, trip->slice));
}

ir_value split_window_write(ir_builder *b, ir_value x, ir_value window, int64_t dim, ir_value at) {
  int64_t whole = ir_type_at(b->m, x)->dims[dim], size = ir_type_at(b->m, window)->dims[dim];
  int64_t n = min64(whole, size);
  ir_value to = clamped(b, at, 0, whole - n), by = minus(b, to, at);
  ir_value old = part_of(b, x, dim, to, n), moved = split_window_read(b, window, dim, by, n);
  split_interval covered = split_window_inside(b, by, size, n);
  ir_value is_new = split_window_mask(b, ir_type_of(b->m, moved), dim, covered);
  ir_value part = is_new ? ir_build_select(b, is_new, moved, old) : moved;
  return with_part(b, x, part, dim, to);
}

ir_value split_window_take(ir_builder *b, const split_trip *trip, ir_value whole, split_pos pos) {
  ir_value at = split_window_start(b, trip, pos);
  int64_t size = split_window_size(pos, trip->slice),
          length = ir_type_at(b->m, whole)->dims[pos.dim];
  if (split_window_fits(trip, pos, length)) {
    check_fits(b, trip, pos, length);
    return part_of(b, whole, pos.dim, at, size);
  }
  ir_value moved = pos.more ? read_at_ends(b, trip, whole, pos) : IR_NONE;
  return moved ? moved : split_window_read(b, whole, pos.dim, at, size);
}

ir_value split_window_put(ir_builder *b, const split_trip *trip, ir_value whole, ir_value window,
                          split_pos pos) {
  ir_value at = split_window_start(b, trip, pos);
  if (split_window_fits(trip, pos, ir_type_at(b->m, whole)->dims[pos.dim]))
    return with_part(b, whole, window, pos.dim, at);
  return split_window_write(b, whole, window, pos.dim, at);
}

bool split_counts_in(ir_dtype dtype) {
  switch (ir_dtype_class_of(dtype)) {
    case IR_CLASS_INT: return dtype >= IR_I8;
    case IR_CLASS_UINT: return dtype >= IR_UI8;
    case IR_CLASS_FLOAT: return dtype >= IR_BF16;
    default: return ir_is_complex(dtype);
  }
}

ir_value split_overwritten(ir_builder *b, ir_type t, int64_t which) {
  ir_dtype dtype = ir_type_get(b->m, t)->dtype;
  int64_t number = split_counts_in(dtype) ? which % SPLIT_COUNTED : which % 2 * (dtype == IR_I1);
  ir_type scalar = ir_scalar(b->m, dtype);
  if (number == 0) return ir_build_zeros(b, t);
  return ir_build_broadcast(b, ir_build_splat_int(b, scalar, number), t, NULL);
}
