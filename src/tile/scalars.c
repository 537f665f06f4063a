#include "tile/scalars.h"

typedef struct bounds {
  int64_t low, high;
} bounds;

static tile_scalar unknown(void) { return (tile_scalar){0}; }

tile_scalar tile_scalar_of(const tile_scalars *s, ir_value v) {
  return v < s->of.count ? s->of.at[v] : unknown();
}

static bool is_signed(ir_dtype d) { return ir_dtype_class_of(d) == IR_CLASS_INT || d == IR_I1; }

static bool fits(ir_dtype dtype, int64_t x) {
  int64_t bits = 8 * ir_dtype_bytes(dtype);
  if (dtype == IR_I1) return x == 0 || x == 1;
  if (dtype == IR_I2 || dtype == IR_I4) return false;
  return bits == 64 || (x >= -(INT64_C(1) << (bits - 1)) && x < INT64_C(1) << (bits - 1));
}

static bool is_as_linear(const tile_scalars *s, const tile_scalar *x, int32_t t) {
  int64_t a, b, sum;
  return !__builtin_mul_overflow(x->start, s->trips.start[t], &a) &&
         !__builtin_mul_overflow(x->lo, s->trips.lo[t], &b) &&
         !__builtin_add_overflow(a, b, &sum) && !__builtin_add_overflow(sum, x->constant, &sum) &&
         sum == x->in[t];
}

/* Every sample is as the facts say. */
static void check(const tile_scalars *s, const tile_scalar *x) {
  for (int32_t t = 0; t < TILE_SAMPLES; t++) {
    CTX_CHECK(s->m->ctx, x->low <= x->in[t] && x->in[t] <= x->high);
    CTX_CHECK(s->m->ctx, !x->is_linear || is_as_linear(s, x, t));
  }
}

/* Where the number could wrap around in some trip, nothing is known of it. */
static void set(tile_scalars *s, ir_value v, tile_scalar x) {
  ir_dtype dtype = ir_type_at(s->m, v)->dtype;
  while (s->of.count <= v) VEC_PUSH(s->a, &s->of, unknown());
  if (!x.is || !is_signed(dtype) || !fits(dtype, x.low) || !fits(dtype, x.high)) return;
  if (x.low == x.high && !x.is_linear) {
    x.is_linear = true;
    x.start = x.lo = 0;
    x.constant = x.low;
  }
  check(s, &x);
  s->of.at[v] = x;
}

static tile_scalar constant(int64_t value) {
  tile_scalar x = {.is = true, .low = value, .high = value, .is_linear = true, .constant = value};
  for (int32_t t = 0; t < TILE_SAMPLES; t++) x.in[t] = value;
  return x;
}

/* ---- the ops ---- */
static tile_scalar read_constant(const ir_module *m, ir_op op) {
  const ir_attr_data *d = ir_attr_get(m, ir_op_attr(m, op, "value"));
  ir_dtype dtype = ir_type_at(m, ir_result(m, op, 0))->dtype;
  int64_t bytes = ir_dtype_bytes(dtype), value = 0;
  if (d->kind != IR_ATTR_DENSE || !d->splat || !is_signed(dtype)) return unknown();
  memcpy(&value, d->data, (size_t)bytes);
  if (dtype == IR_I1) return constant(value != 0);
  return constant((int64_t)((uint64_t)value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
}

static bool combined(ir_kind kind, int64_t x, int64_t y, int64_t *out) {
  switch (kind) {
    case IR_OP_ADD: return !__builtin_add_overflow(x, y, out);
    case IR_OP_SUBTRACT: return !__builtin_sub_overflow(x, y, out);
    case IR_OP_MULTIPLY: return !__builtin_mul_overflow(x, y, out);
    case IR_OP_AND: /* of i1 */
    case IR_OP_MINIMUM: return *out = x < y ? x : y, true;
    case IR_OP_OR:
    case IR_OP_MAXIMUM: return *out = x > y ? x : y, true;
    default: return false;
  }
}

/* Each of the ops is monotone in one operand while the other stays: extremes are at the corners. */
static bool bound(ir_kind kind, const tile_scalar *x, const tile_scalar *y, bounds *out) {
  for (int32_t corner = 0; corner < 4; corner++) {
    int64_t value;
    if (!combined(kind, corner & 1 ? x->high : x->low, corner & 2 ? y->high : y->low, &value))
      return false;
    if (!corner || value < out->low) out->low = value;
    if (!corner || value > out->high) out->high = value;
  }
  return true;
}

static tile_scalar scaled(const tile_scalar *x, int64_t factor) {
  tile_scalar r = *x;
  r.is_linear = x->is_linear && !__builtin_mul_overflow(x->start, factor, &r.start) &&
                !__builtin_mul_overflow(x->lo, factor, &r.lo) &&
                !__builtin_mul_overflow(x->constant, factor, &r.constant);
  return r;
}

static tile_scalar sum(const tile_scalar *x, const tile_scalar *y) {
  tile_scalar r = *x;
  r.is_linear = x->is_linear && y->is_linear &&
                !__builtin_add_overflow(x->start, y->start, &r.start) &&
                !__builtin_add_overflow(x->lo, y->lo, &r.lo) &&
                !__builtin_add_overflow(x->constant, y->constant, &r.constant);
  return r;
}

/* As far as it is known to be linear. */
static tile_scalar linear_of(ir_kind kind, const tile_scalar *x, const tile_scalar *y) {
  tile_scalar minus = scaled(y, -1);
  switch (kind) {
    case IR_OP_ADD: return sum(x, y);
    case IR_OP_SUBTRACT: return sum(x, &minus);
    case IR_OP_MULTIPLY:
      if (tile_is_constant(y)) return scaled(x, y->low);
      if (tile_is_constant(x)) return scaled(y, x->low);
      return unknown();
    default: return unknown();
  }
}

static tile_scalar arithmetic(ir_kind kind, const tile_scalar *x, const tile_scalar *y) {
  bounds b = {0, 0};
  if (!x->is || !y->is || !bound(kind, x, y, &b)) return unknown();
  tile_scalar r = linear_of(kind, x, y);
  r.is = true;
  r.low = b.low;
  r.high = b.high;
  for (int32_t t = 0; t < TILE_SAMPLES; t++)
    if (!combined(kind, x->in[t], y->in[t], &r.in[t])) return unknown();
  return r;
}

static tile_scalar logic(const ir_module *m, ir_op op, ir_kind kind, const tile_scalar *x,
                         const tile_scalar *y) {
  bool is_bool = ir_type_at(m, ir_result(m, op, 0))->dtype == IR_I1;
  return is_bool ? arithmetic(kind, x, y) : unknown();
}

bool tile_compares(ir_direction direction, int64_t x, int64_t y) {
  switch (direction) {
    case IR_EQ: return x == y;
    case IR_NE: return x != y;
    case IR_GE: return x >= y;
    case IR_GT: return x > y;
    case IR_LE: return x <= y;
    default: return x < y;
  }
}

static tile_scalar comparison(const ir_module *m, ir_op op, const tile_scalar *x,
                              const tile_scalar *y) {
  ir_direction direction;
  ir_compare_type type;
  if (!x->is || !y->is || !ir_compare_kind(m, op, &direction, &type)) return unknown();
  if (tile_is_constant(x) && tile_is_constant(y))
    return constant(tile_compares(direction, x->low, y->low));
  tile_scalar r = {.is = true, .low = 0, .high = 1};
  for (int32_t t = 0; t < TILE_SAMPLES; t++) r.in[t] = tile_compares(direction, x->in[t], y->in[t]);
  return r;
}

static tile_scalar selection(const tile_scalar *test, const tile_scalar *yes,
                             const tile_scalar *no) {
  if (!test->is || !yes->is || !no->is) return unknown();
  tile_scalar r = {.is = true,
                   .low = yes->low < no->low ? yes->low : no->low,
                   .high = yes->high > no->high ? yes->high : no->high};
  for (int32_t t = 0; t < TILE_SAMPLES; t++) r.in[t] = test->in[t] ? yes->in[t] : no->in[t];
  return r;
}

/* From one integer type to another. Not to or from i1, which is another thing than wrapping. */
static tile_scalar conversion(const ir_module *m, ir_op op, const tile_scalar *x) {
  bool from = ir_type_at(m, ir_operand(m, op, 0))->dtype == IR_I1,
       to = ir_type_at(m, ir_result(m, op, 0))->dtype == IR_I1;
  return from == to ? *x : unknown();
}

static tile_scalar scalar_of_op(const tile_scalars *s, ir_op op) {
  const ir_module *m = s->m;
  const ir_op_data *d = ir_op_get(m, op);
  tile_scalar x[3] = {0};
  for (uint32_t i = 0; i < d->n_operands && i < 3; i++) x[i] = tile_scalar_of(s, d->operands[i]);
  switch (d->kind) {
    case IR_OP_CONSTANT: return read_constant(m, op);
    case IR_OP_CONVERT: return conversion(m, op, x);
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_RESHAPE: return x[0];
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
    case IR_OP_MULTIPLY:
    case IR_OP_MINIMUM:
    case IR_OP_MAXIMUM: return arithmetic((ir_kind)d->kind, &x[0], &x[1]);
    case IR_OP_AND:
    case IR_OP_OR: return logic(m, op, (ir_kind)d->kind, &x[0], &x[1]);
    case IR_OP_COMPARE: return comparison(m, op, &x[0], &x[1]);
    case IR_OP_SELECT: return selection(&x[0], &x[1], &x[2]);
    default: return unknown();
  }
}

void tile_scalars_add(tile_scalars *s, ir_op op) {
  if (ir_op_get(s->m, op)->n_results == 1) set(s, ir_result(s->m, op, 0), scalar_of_op(s, op));
}

/* ---- the trips ---- */
static tile_trips trips_of(const ir_module *m, ir_op loop) {
  tile_trips r = {.extent = ir_op_int(m, loop, "extent", 0),
                  .slice = ir_op_int(m, loop, "slice", 1)};
  r.count = (r.extent + r.slice - 1) / r.slice;
  int64_t samples[TILE_SAMPLES] = {0, 1, r.count - 2, r.count - 1};
  for (int32_t t = 0; t < TILE_SAMPLES; t++) {
    int64_t trip = samples[t] < 0 ? 0 : samples[t] >= r.count ? r.count - 1 : samples[t];
    int64_t last = r.extent - r.slice;
    r.lo[t] = trip * r.slice;
    r.start[t] = r.lo[t] < last ? r.lo[t] : last;
  }
  return r;
}

tile_scalars *tile_scalars_new(arena *a, const ir_module *m, ir_op loop) {
  tile_scalars *s = ARENA_NEW(a, tile_scalars);
  *s = (tile_scalars){.m = m, .a = a, .trips = trips_of(m, loop)};
  const ir_block_data *body = ir_block_get(m, ir_op_get(m, loop)->regions[0]);
  enum { LAST = TILE_SAMPLES - 1 };
  tile_scalar start = {.is = true, .high = s->trips.start[LAST], .is_linear = true, .start = 1},
              lo = {.is = true, .high = s->trips.lo[LAST], .is_linear = true, .lo = 1};
  memcpy(start.in, s->trips.start, sizeof start.in);
  memcpy(lo.in, s->trips.lo, sizeof lo.in);
  set(s, body->args.at[0], start);
  set(s, body->args.at[1], lo);
  return s;
}
