/* A body without its trips. In: a loop's body, which knows where its slice begins (start, lo) and
 * how long it is (its constants). Out: a body of the same results that knows neither, but for
 * positions, iota + start, so that it can be read as a function of an index of the whole extent.
 * What start and lo still reach by another way no kernel covers (nest.c).
 *
 * Each rule holds in every trip, and is checked in some of them where it is applied; i: an iota
 * over the slice, of n elements; s, l: start, lo; c: constants.
 *
 *   y                    ->  c            if y is in c .. c in all trips
 *   i >= y, i < y        ->  true, false  if all trips' y are beyond 0 .. n
 *   i >= max(x, y)       ->  i >= x and i >= y; likewise min, and i <
 *   i >= c - s           ->  i + s >= c; likewise <
 *   i >= l - s           ->  true: of no index that a trip has for the first time is it false, and
 * a kernel has each index once i + (s + c)          ->  (i + s) + c
 *
 * A top-k over the sliced dimension keeps k values and looks at top_k(concatenate(kept, rest)),
 * where the first trip has x's first k as `kept` and x without them as `rest`, others what the
 * trips before left and what is fresh of x (monoid.c): together that is top_k(x), and what is made
 * of its positions to get indices is the indices. Ops that lost their uses go. Nothing else of a
 * module with the loop may read its results: such a top-k is one of a single trip.
 */
#include "tile/trip.h"

#include "ir/attrs.h"
#include "ir/maps.h"
#include "tile/scalars.h"

enum { DEEPEST_BOUND = 8 };

typedef struct folder {
  ir_module *m;
  arena *a;
  ir_builder b; /* at the end of what was read */
  tile_scalars *scalars;
  tile_trips trips;
  VEC(int64_t) position; /* by value: k, of indices that stand for positions behind k kept ones */
  ir_map *map;
} folder;

static ir_op maker(const folder *f, ir_value v, ir_kind kind) {
  ir_op op = ir_value_get(f->m, v)->op;
  return op && ir_kind_of(f->m, op) == kind ? op : IR_NONE;
}

static tile_scalar scalar_of(const folder *f, ir_value v) { return tile_scalar_of(f->scalars, v); }

static bool is_known(const folder *f, ir_value v, int64_t value) {
  tile_scalar x = scalar_of(f, v);
  return tile_is_constant(&x) && x.low == value;
}

static void alias(folder *f, ir_op op, ir_value to) {
  ir_map_set(f->map, ir_result(f->m, op, 0), to);
}

/* Scalars of what was built are known, too. */
static ir_value built(folder *f, ir_value v) {
  tile_scalars_add(f->scalars, ir_value_get(f->m, v)->op);
  return v;
}

/* ---- positions ---- */
/* The length of the iota v; 0: it is none. */
static int64_t counted(const folder *f, ir_value v) {
  ir_op op = maker(f, v, IR_OP_IOTA);
  return op ? ir_type_at(f->m, v)->dims[ir_op_int(f->m, op, "iota_dimension", 0)] : 0;
}

static bool is_over_slice(const folder *f, ir_value v) { return counted(f, v) == f->trips.slice; }

/* iota + start, as the iota v counts, in integers that hold all positions. */
static ir_value position_of(folder *f, ir_value v, ir_dtype dtype) {
  CTX_CHECK(f->m->ctx, is_over_slice(f, v));
  CTX_CHECK(f->m->ctx, dtype == IR_I64 || f->trips.extent <= INT32_MAX);
  ir_type_data t = *ir_type_at(f->m, v);
  int64_t dim = ir_op_int(f->m, maker(f, v, IR_OP_IOTA), "iota_dimension", 0);
  t.dtype = dtype;
  ir_type type = ir_type_intern(f->m, &t);
  ir_block body = f->b.block;
  ir_value start = ir_build_convert(&f->b, ir_block_get(f->m, body)->args.at[0], dtype);
  ir_value count = ir_build_iota(&f->b, type, dim);
  return ir_build_binary(&f->b, IR_OP_ADD, count, ir_build_broadcast(&f->b, start, type, NULL));
}

/* Made of start by nothing but changes of shape and type: as nest.c reads positions. */
static bool is_start(const folder *f, ir_value v) {
  for (ir_op op = ir_value_get(f->m, v)->op; op; op = ir_value_get(f->m, v)->op) {
    ir_kind kind = ir_kind_of(f->m, op);
    if (kind != IR_OP_CONVERT && kind != IR_OP_BROADCAST_IN_DIM && kind != IR_OP_RESHAPE)
      return false;
    v = ir_operand(f->m, op, 0);
  }
  return v == ir_block_get(f->m, f->b.block)->args.at[0];
}

static void check_position(const folder *f, const tile_scalar *at, int64_t c) {
  for (int32_t t = 0; t < TILE_SAMPLES; t++)
    CTX_CHECK(f->m->ctx, at->in[t] == f->trips.start[t] + c);
}

/* i + (start + c) */
static bool fold_position(folder *f, ir_op op, ir_value count, ir_value at) {
  tile_scalar x = scalar_of(f, at);
  ir_type type = ir_type_of(f->m, count);
  ir_dtype dtype = ir_type_get(f->m, type)->dtype;
  bool moves = x.is_linear && x.start == 1 && !x.lo && x.is && !is_start(f, at);
  if (!moves || !is_over_slice(f, count) ||
      (dtype != IR_I64 && (dtype != IR_I32 || f->trips.extent > INT32_MAX)))
    return false;
  check_position(f, &x, x.constant);
  ir_value position = position_of(f, count, dtype);
  ir_value c = built(f, ir_build_splat_int(&f->b, type, x.constant));
  alias(f, op, ir_build_binary(&f->b, IR_OP_ADD, position, c));
  return true;
}

/* ---- arithmetic ---- */
static void fold_arithmetic(folder *f, ir_op op, ir_kind kind) {
  ir_value x = ir_operand(f->m, op, 0), y = ir_operand(f->m, op, 1);
  if (kind == IR_OP_ADD && counted(f, x) && fold_position(f, op, x, y)) return;
  if (kind == IR_OP_ADD && counted(f, y) && fold_position(f, op, y, x)) return;
  /* not an iota: each of its readers counts by itself, the sum's do so together */
  if (kind == IR_OP_ADD && is_known(f, x, 0) && !counted(f, y)) alias(f, op, y);
  else if ((kind == IR_OP_ADD || kind == IR_OP_SUBTRACT) && is_known(f, y, 0) && !counted(f, x))
    alias(f, op, x);
}

static void fold_logic(folder *f, ir_op op, ir_kind kind) {
  for (uint32_t i = 0; i < 2; i++) {
    ir_value x = ir_operand(f->m, op, i), other = ir_operand(f->m, op, 1 - i);
    if (ir_type_at(f->m, x)->dtype != IR_I1) return;
    if (is_known(f, x, kind == IR_OP_AND)) alias(f, op, other);
    else if (is_known(f, x, kind == IR_OP_OR)) alias(f, op, x);
    else continue;
    return;
  }
}

/* ---- masks ---- */
typedef enum truth { UNKNOWN, NEVER, ALWAYS, SOMETIMES } truth;

typedef struct mask {
  truth is;
  ir_value value; /* of SOMETIMES */
} mask;

typedef struct test { /* i >= bound or i < bound */
  ir_value count;     /* i */
  int64_t n;          /* of its elements */
  bool below;
  ir_value bound;
} test;

static bool holds(const test *t, int64_t i, int64_t bound) {
  return tile_compares(t->below ? IR_LT : IR_GE, i, bound);
}

/* Indices around the ends of the slice and the bound. */
static int64_t sample_index(const test *t, int64_t bound, int32_t k) {
  int64_t i = k == 0 ? 0 : k == 1 ? t->n - 1 : bound + k - 3;
  return i < 0 ? 0 : i >= t->n ? t->n - 1 : i;
}

/* The rule that made `is` of the test, with c where it made i + start >= c, gives what the test
 * gives for each index that the trip has for the first time. */
static void check_mask(const folder *f, const test *t, truth is, int64_t c) {
  tile_scalar bound = scalar_of(f, t->bound);
  for (int32_t s = 0; s < TILE_SAMPLES; s++)
    for (int32_t k = 0; k < 5; k++) {
      int64_t i = sample_index(t, bound.in[s], k), position = i + f->trips.start[s];
      bool want = is == ALWAYS || (is == SOMETIMES && holds(t, position, c));
      if (t->n == f->trips.slice && position < f->trips.lo[s]) continue;
      CTX_CHECK(f->m->ctx, holds(t, i, bound.in[s]) == want);
    }
}

static mask decided(const folder *f, const test *t, truth is) {
  check_mask(f, t, is, 0);
  return (mask){is, IR_NONE};
}

/* i + start against c; positions are 0 .. extent - 1. */
static mask compared(folder *f, const test *t, int64_t c) {
  if (c <= 0) return decided(f, t, t->below ? NEVER : ALWAYS);
  if (c >= f->trips.extent) return decided(f, t, t->below ? ALWAYS : NEVER);
  check_mask(f, t, SOMETIMES, c);
  ir_value position = position_of(f, t->count, f->trips.extent > INT32_MAX ? IR_I64 : IR_I32);
  ir_value bound = built(f, ir_build_splat_int(&f->b, ir_type_of(f->m, position), c));
  const char *direction = t->below ? "LT" : "GE";
  return (mask){SOMETIMES, ir_build_compare(&f->b, direction, position, bound)};
}

static mask read_scalar(folder *f, const test *t, const tile_scalar *y) {
  if (y->high <= 0) return decided(f, t, t->below ? NEVER : ALWAYS);
  if (y->low >= t->n) return decided(f, t, t->below ? ALWAYS : NEVER);
  if (!y->is_linear || t->n != f->trips.slice) return (mask){0};
  if (y->start == -1 && y->lo == 0) return compared(f, t, y->constant);
  bool is_fresh = y->start == -1 && y->lo == 1 && y->constant == 0 && !t->below;
  return is_fresh ? decided(f, t, ALWAYS) : (mask){0};
}

/* Both or one of them. */
static mask joined(folder *f, bool both, mask x, mask y) {
  truth neutral = both ? ALWAYS : NEVER, end = both ? NEVER : ALWAYS;
  if (x.is == end || y.is == end) return (mask){end, IR_NONE};
  if (x.is == UNKNOWN || y.is == UNKNOWN) return (mask){0};
  if (x.is == neutral) return y;
  if (y.is == neutral) return x;
  return (mask){SOMETIMES, ir_build_binary(&f->b, both ? IR_OP_AND : IR_OP_OR, x.value, y.value)};
}

static ir_op extreme_of(const folder *f, ir_value v) {
  for (ir_op op = ir_value_get(f->m, v)->op; op; op = ir_value_get(f->m, v)->op) {
    ir_kind kind = ir_kind_of(f->m, op);
    if (kind == IR_OP_MINIMUM || kind == IR_OP_MAXIMUM) return op;
    if (kind != IR_OP_CONVERT && kind != IR_OP_BROADCAST_IN_DIM && kind != IR_OP_RESHAPE)
      return IR_NONE;
    v = ir_operand(f->m, op, 0);
  }
  return IR_NONE;
}

static mask read_test(folder *f, test t, int32_t depth) {
  tile_scalar y = scalar_of(f, t.bound);
  if (!y.is || depth == 0) return (mask){0};
  mask r = read_scalar(f, &t, &y);
  ir_op extreme = extreme_of(f, t.bound);
  if (r.is != UNKNOWN || !extreme) return r;
  /* i >= max and i < min: both; the numbers are the same behind conversions, which keep them */
  bool both = (ir_kind_of(f->m, extreme) == IR_OP_MAXIMUM) != t.below;
  test x = t, z = t;
  x.bound = ir_operand(f->m, extreme, 0);
  z.bound = ir_operand(f->m, extreme, 1);
  mask first = read_test(f, x, depth - 1);
  return joined(f, both, first, read_test(f, z, depth - 1));
}

static void fold_compare(folder *f, ir_op op) {
  ir_direction direction;
  ir_compare_type type;
  test t = {.count = ir_operand(f->m, op, 0), .bound = ir_operand(f->m, op, 1)};
  t.n = counted(f, t.count);
  if (!t.n || !ir_compare_kind(f->m, op, &direction, &type)) return;
  if (direction != IR_GE && direction != IR_LT) return;
  t.below = direction == IR_LT;
  mask r = read_test(f, t, DEEPEST_BOUND);
  if (r.is == UNKNOWN) return;
  if (r.is != SOMETIMES)
    r.value = built(
        f, ir_build_splat_int(&f->b, ir_type_of(f->m, ir_result(f->m, op, 0)), r.is == ALWAYS));
  alias(f, op, r.value);
}

/* ---- top-k ---- */
/* What v is in the first trip, where it is selected for that. */
static ir_value in_first_trip(const folder *f, ir_value v) {
  ir_op op = maker(f, v, IR_OP_SELECT);
  tile_scalar is_first = op ? scalar_of(f, ir_operand(f->m, op, 0)) : (tile_scalar){0};
  if (!is_first.is) return v;
  for (int32_t t = 0; t < TILE_SAMPLES; t++)
    if (is_first.in[t] != (f->trips.lo[t] == 0)) return v;
  return ir_operand(f->m, op, 1);
}

/* v is x[..., 0:k]. */
static bool is_first(folder *f, ir_value v, ir_value x, int64_t k) {
  ir_op op = maker(f, v, IR_OP_SLICE);
  int32_t n, last = ir_type_at(f->m, v)->rank - 1;
  if (!op || ir_operand(f->m, op, 0) != x) return false;
  const int64_t *start = ir_op_ints(f->m, op, "start_indices", &n),
                *limit = ir_op_ints(f->m, op, "limit_indices", &n),
                *stride = ir_op_ints(f->m, op, "strides", &n);
  for (int32_t i = 0; i <= last; i++)
    if (start[i] || stride[i] != 1 || limit[i] != (i == last ? k : ir_type_at(f->m, x)->dims[i]))
      return false;
  return true;
}

/* k in the first trip, in others how many elements of the slice were counted before. */
static bool is_end_of_counted(const folder *f, ir_value v, int64_t k) {
  tile_scalar x = scalar_of(f, v);
  for (int32_t t = 0; t < TILE_SAMPLES && x.is; t++)
    if (x.in[t] != (f->trips.lo[t] ? f->trips.lo[t] - f->trips.start[t] : k)) return false;
  return x.is;
}

/* v is true where the index along dimension `dim` is behind those. */
static bool is_behind(folder *f, ir_value v, int64_t dim, int64_t k) {
  ir_op op = maker(f, v, IR_OP_BROADCAST_IN_DIM), count;
  ir_direction direction;
  ir_compare_type type;
  if (op) {
    v = ir_operand(f->m, op, 0);
    if (ir_type_at(f->m, v)->rank != 1 || ir_moved_from(f->m, op, dim) != 0) return false;
    dim = 0;
  }
  op = maker(f, v, IR_OP_COMPARE);
  if (!op || !ir_compare_kind(f->m, op, &direction, &type) || direction != IR_GE) return false;
  count = maker(f, ir_operand(f->m, op, 0), IR_OP_IOTA);
  return count && ir_op_int(f->m, count, "iota_dimension", 0) == dim &&
         is_end_of_counted(f, ir_operand(f->m, op, 1), k);
}

static void fold_top_k(folder *f, ir_op op) {
  ir_op all = maker(f, ir_operand(f->m, op, 0), IR_OP_CONCATENATE), rest;
  const ir_type_data *t = ir_type_at(f->m, ir_result(f->m, op, 0));
  int64_t last = t->rank - 1, k = t->dims[last];
  if (!all || ir_op_get(f->m, all)->n_operands != 2 ||
      ir_op_int(f->m, all, "dimension", -1) != last)
    return;
  rest = maker(f, ir_operand(f->m, all, 1), IR_OP_SELECT);
  if (!rest || !is_behind(f, ir_operand(f->m, rest, 0), last, k)) return;
  ir_value x = ir_operand(f->m, rest, 1);
  if (!is_first(f, in_first_trip(f, ir_operand(f->m, all, 0)), x, k)) return;
  ir_op_get(f->m, op)->operands[0] = x;
  ir_value positions = ir_result(f->m, op, 1);
  while (f->position.count <= positions) VEC_PUSH(f->a, &f->position, 0);
  f->position.at[positions] = k;
}

static bool is_of(const folder *f, ir_value v, ir_kind kind, ir_value x, int64_t y) {
  ir_op op = maker(f, v, kind);
  return op && ir_operand(f->m, op, 0) == x && is_known(f, ir_operand(f->m, op, 1), y);
}

/* v is iota[..., min(positions, k - 1)]. */
static bool is_index_of_first(folder *f, ir_value v, ir_value positions, int64_t k) {
  ir_op op = maker(f, v, IR_OP_GATHER), count, shape;
  ir_gather_numbers numbers;
  int64_t last = ir_type_at(f->m, v)->rank - 1;
  if (!op || !ir_gather_dims(f->a, f->m, op, &numbers)) return false;
  count = maker(f, in_first_trip(f, ir_operand(f->m, op, 0)), IR_OP_IOTA);
  shape = maker(f, ir_operand(f->m, op, 1), IR_OP_RESHAPE);
  return count && shape && ir_op_int(f->m, count, "iota_dimension", 0) == last &&
         numbers.start_index_map.count == 1 && numbers.start_index_map.at[0] == last &&
         numbers.offset_dims.count == 0 &&
         is_of(f, ir_operand(f->m, shape, 0), IR_OP_MINIMUM, positions, k - 1);
}

/* v is positions - k + start. */
static bool is_index_of_rest(const folder *f, ir_value v, ir_value positions, int64_t k) {
  ir_op op = maker(f, v, IR_OP_ADD);
  tile_scalar start = op ? scalar_of(f, ir_operand(f->m, op, 1)) : (tile_scalar){0};
  return start.is && start.is_linear && start.start == 1 && !start.lo && !start.constant &&
         is_of(f, ir_operand(f->m, op, 0), IR_OP_SUBTRACT, positions, k);
}

/* select(positions < k, kept indices, positions - k + start) */
static bool fold_index(folder *f, ir_op op) {
  ir_op test = maker(f, ir_operand(f->m, op, 0), IR_OP_COMPARE);
  ir_direction direction;
  ir_compare_type type;
  if (!test || !ir_compare_kind(f->m, test, &direction, &type) || direction != IR_LT) return false;
  ir_value positions = ir_operand(f->m, test, 0);
  int64_t k = positions < f->position.count ? f->position.at[positions] : 0;
  if (!k || !is_known(f, ir_operand(f->m, test, 1), k) ||
      !is_index_of_first(f, ir_operand(f->m, op, 1), positions, k) ||
      !is_index_of_rest(f, ir_operand(f->m, op, 2), positions, k))
    return false;
  alias(f, op, positions);
  return true;
}

/* ---- the body ---- */
static void fold_select(folder *f, ir_op op) {
  tile_scalar test = scalar_of(f, ir_operand(f->m, op, 0));
  if (tile_is_constant(&test)) alias(f, op, ir_operand(f->m, op, test.low ? 1 : 2));
  else fold_index(f, op);
}

static void fold_op(folder *f, ir_op op) {
  ir_kind kind = ir_kind_of(f->m, op);
  switch (kind) {
    case IR_OP_ADD:
    case IR_OP_SUBTRACT: fold_arithmetic(f, op, kind); return;
    case IR_OP_AND:
    case IR_OP_OR: fold_logic(f, op, kind); return;
    case IR_OP_COMPARE: fold_compare(f, op); return;
    case IR_OP_SELECT: fold_select(f, op); return;
    case IR_OP_CHLO_TOP_K: fold_top_k(f, op); return;
    default: return;
  }
}

static void read_op(folder *f, ir_op op) {
  ir_op_data *d = ir_op_get(f->m, op);
  for (uint32_t k = 0; k < d->n_operands; k++) d->operands[k] = ir_map_get(f->map, d->operands[k]);
  f->b.location = d->location;
  tile_scalars_add(f->scalars, op);
  if (d->n_results) fold_op(f, op); /* what it builds stands in front of the op */
  ir_block_append(f->m, f->b.block, op);
}

void tile_drop_trips(ir_module *m, ir_op loop) {
  arena *a = arena_create(m->ctx);
  ir_block body = ir_op_get(m, loop)->regions[0];
  folder f = {.m = m,
              .a = a,
              .b = {m, body, IR_NONE},
              .scalars = tile_scalars_new(a, m, loop),
              .map = ir_map_new(a, m)};
  f.trips = f.scalars->trips;
  ir_block_data old = *ir_block_get(m, body);
  memset(&ir_block_get(m, body)->ops, 0, sizeof old.ops);
  for (uint32_t i = 0; i < old.ops.count; i++) read_op(&f, old.ops.at[i]);
  ir_drop_unused(m, body);
  arena_destroy(a);
}
