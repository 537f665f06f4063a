/* The single trip. In: a loop's body, made for many trips. Out: the same body for the one that has
 * start = lo = 0: integers made of these are known, masks of what was counted are true, selects by
 * such give the one side. A top-k over the sliced dimension keeps k values and looks at
 * top_k(concatenate(kept, rest)), where the first trip has x's first k as `kept` and x without them
 * as `rest` (monoid.c): that is top_k(x), and what is made of its positions to get indices is the
 * indices. Ops that lost their uses go. Nothing else of a module with the loop may read its
 * results.
 */
#include "tile/trip.h"

#include "ir/attrs.h"

typedef struct known {
  bool is, of_trip; /* of_trip: made of start or lo */
  int64_t value;
} known;

typedef struct folder {
  ir_module *m;
  arena *a;
  known *known;      /* by value: all elements are this integer */
  int64_t *position; /* by value: k, of indices that stand for positions behind k kept ones */
  ir_map *map;
} folder;

static ir_op maker(const folder *f, ir_value v, ir_kind kind) {
  ir_op op = ir_value_get(f->m, v)->op;
  return op && ir_kind_of(f->m, op) == kind ? op : IR_NONE;
}

static bool is_integer(const folder *f, ir_value v) {
  ir_dtype_class c = ir_dtype_class_of(ir_type_at(f->m, v)->dtype);
  return c == IR_CLASS_INT || ir_type_at(f->m, v)->dtype == IR_I1;
}

static bool is_known(const folder *f, ir_value v, int64_t value) {
  return f->known[v].is && f->known[v].value == value;
}

static void learn(folder *f, ir_op op, int64_t value) {
  bool of_trip = false;
  for (uint32_t i = 0; i < ir_op_get(f->m, op)->n_operands; i++)
    of_trip = of_trip || f->known[ir_operand(f->m, op, i)].of_trip;
  f->known[ir_result(f->m, op, 0)] = (known){true, of_trip, value};
}

static void alias(folder *f, ir_op op, ir_value to) {
  ir_map_set(f->map, ir_result(f->m, op, 0), to);
}

static void read_constant(folder *f, ir_op op) {
  const ir_attr_data *d = ir_attr_get(f->m, ir_op_attr(f->m, op, "value"));
  ir_dtype dtype = ir_type_at(f->m, ir_result(f->m, op, 0))->dtype;
  int64_t bytes = ir_dtype_bytes(dtype), value = 0;
  if (d->kind != IR_ATTR_DENSE || !d->splat || !is_integer(f, ir_result(f->m, op, 0))) return;
  memcpy(&value, d->data, (size_t)bytes);
  if (dtype == IR_I1) value = value != 0;
  else value = (int64_t)((uint64_t)value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
  learn(f, op, value);
}

/* ---- arithmetic ---- */
static bool combined(ir_kind kind, int64_t x, int64_t y, int64_t *out) {
  switch (kind) {
    case IR_OP_ADD: return !__builtin_add_overflow(x, y, out);
    case IR_OP_SUBTRACT: return !__builtin_sub_overflow(x, y, out);
    case IR_OP_MULTIPLY: return !__builtin_mul_overflow(x, y, out);
    case IR_OP_MINIMUM: return *out = x < y ? x : y, true;
    case IR_OP_MAXIMUM: return *out = x > y ? x : y, true;
    default: return false;
  }
}

static bool fits(const folder *f, ir_value v, int64_t x) {
  int64_t bits = 8 * ir_dtype_bytes(ir_type_at(f->m, v)->dtype);
  return bits == 64 || (x >= -(INT64_C(1) << (bits - 1)) && x < INT64_C(1) << (bits - 1));
}

static void fold_arithmetic(folder *f, ir_op op, ir_kind kind) {
  ir_value x = ir_operand(f->m, op, 0), y = ir_operand(f->m, op, 1);
  int64_t value;
  if (!is_integer(f, x) || ir_type_at(f->m, x)->dtype == IR_I1) return;
  if (f->known[x].is && f->known[y].is) {
    if (combined(kind, f->known[x].value, f->known[y].value, &value) && fits(f, x, value))
      learn(f, op, value);
  } else if (kind == IR_OP_ADD && is_known(f, x, 0) && !maker(f, y, IR_OP_IOTA)) {
    alias(f, op,
          y); /* not an iota: each of its readers counts by itself, the sum's do so together */
  } else if ((kind == IR_OP_ADD || kind == IR_OP_SUBTRACT) && is_known(f, y, 0) &&
             !maker(f, x, IR_OP_IOTA)) {
    alias(f, op, x);
  }
}

static void fold_logic(folder *f, ir_op op, ir_kind kind) {
  for (uint32_t i = 0; i < 2; i++) {
    ir_value x = ir_operand(f->m, op, i), other = ir_operand(f->m, op, 1 - i);
    if (ir_type_at(f->m, x)->dtype != IR_I1 || !f->known[x].is) continue;
    if ((f->known[x].value != 0) == (kind == IR_OP_AND)) alias(f, op, other);
    else learn(f, op, kind == IR_OP_OR);
    return;
  }
}

static bool holds(ir_direction direction, int64_t x, int64_t y) {
  switch (direction) {
    case IR_EQ: return x == y;
    case IR_NE: return x != y;
    case IR_GE: return x >= y;
    case IR_GT: return x > y;
    case IR_LE: return x <= y;
    default: return x < y;
  }
}

static void fold_compare(folder *f, ir_op op) {
  ir_value x = ir_operand(f->m, op, 0), y = ir_operand(f->m, op, 1);
  ir_direction direction;
  ir_compare_type type;
  if (!is_integer(f, x) || !f->known[y].is || !ir_compare_kind(f->m, op, &direction, &type)) return;
  if (f->known[x].is) learn(f, op, holds(direction, f->known[x].value, f->known[y].value));
  else if (maker(f, x, IR_OP_IOTA) && direction == IR_GE && f->known[y].of_trip &&
           f->known[y].value <= 0)
    learn(f, op, 1);
}

/* ---- top-k ---- */
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

/* v is true where the index along dimension `dim` is at least k. */
static bool is_behind(folder *f, ir_value v, int64_t dim, int64_t k) {
  ir_op op = maker(f, v, IR_OP_BROADCAST_IN_DIM), count;
  ir_direction direction;
  ir_compare_type type;
  int32_t n;
  if (op) {
    const int64_t *dims = ir_op_ints(f->m, op, "broadcast_dimensions", &n);
    if (n != 1 || dims[0] != dim) return false;
    v = ir_operand(f->m, op, 0);
    dim = 0;
  }
  op = maker(f, v, IR_OP_COMPARE);
  if (!op || !ir_compare_kind(f->m, op, &direction, &type) || direction != IR_GE) return false;
  count = maker(f, ir_operand(f->m, op, 0), IR_OP_IOTA);
  return count && ir_op_int(f->m, count, "iota_dimension", 0) == dim &&
         is_known(f, ir_operand(f->m, op, 1), k);
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
  if (!is_first(f, ir_operand(f->m, all, 0), x, k)) return;
  ir_op_get(f->m, op)->operands[0] = x;
  f->position[ir_result(f->m, op, 1)] = k;
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
  count = maker(f, ir_operand(f->m, op, 0), IR_OP_IOTA);
  shape = maker(f, ir_operand(f->m, op, 1), IR_OP_RESHAPE);
  return count && shape && ir_op_int(f->m, count, "iota_dimension", 0) == last &&
         numbers.start_index_map.count == 1 && numbers.start_index_map.at[0] == last &&
         numbers.offset_dims.count == 0 &&
         is_of(f, ir_operand(f->m, shape, 0), IR_OP_MINIMUM, positions, k - 1);
}

/* select(positions < k, kept indices, positions - k) */
static bool fold_index(folder *f, ir_op op) {
  ir_op test = maker(f, ir_operand(f->m, op, 0), IR_OP_COMPARE);
  ir_direction direction;
  ir_compare_type type;
  if (!test || !ir_compare_kind(f->m, test, &direction, &type) || direction != IR_LT) return false;
  ir_value positions = ir_operand(f->m, test, 0);
  int64_t k = f->position[positions];
  if (!k || !is_known(f, ir_operand(f->m, test, 1), k) ||
      !is_index_of_first(f, ir_operand(f->m, op, 1), positions, k) ||
      !is_of(f, ir_operand(f->m, op, 2), IR_OP_SUBTRACT, positions, k))
    return false;
  alias(f, op, positions);
  return true;
}

/* ---- the body ---- */
static void fold_select(folder *f, ir_op op) {
  known test = f->known[ir_operand(f->m, op, 0)];
  if (test.is) alias(f, op, ir_operand(f->m, op, test.value ? 1 : 2));
  else fold_index(f, op);
}

static void fold_op(folder *f, ir_op op) {
  ir_kind kind = ir_kind_of(f->m, op);
  ir_value x = ir_op_get(f->m, op)->n_operands ? ir_operand(f->m, op, 0) : IR_NONE;
  switch (kind) {
    case IR_OP_CONSTANT: read_constant(f, op); return;
    case IR_OP_CONVERT:
      if (f->known[x].is && is_integer(f, ir_result(f->m, op, 0)) &&
          fits(f, ir_result(f->m, op, 0), f->known[x].value))
        learn(f, op, f->known[x].value);
      return;
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_RESHAPE:
      if (f->known[x].is) learn(f, op, f->known[x].value);
      return;
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
    case IR_OP_MULTIPLY:
    case IR_OP_MINIMUM:
    case IR_OP_MAXIMUM: fold_arithmetic(f, op, kind); return;
    case IR_OP_AND:
    case IR_OP_OR: fold_logic(f, op, kind); return;
    case IR_OP_COMPARE: fold_compare(f, op); return;
    case IR_OP_SELECT: fold_select(f, op); return;
    case IR_OP_CHLO_TOP_K: fold_top_k(f, op); return;
    default: return;
  }
}

static bool is_used(const ir_module *m, ir_op op, const uint32_t *uses) {
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++)
    if (uses[ir_result(m, op, i)]) return true;
  return false;
}

void tile_drop_unused(ir_module *m, ir_block body) {
  arena *a = arena_create(m->ctx);
  uint32_t *uses = ir_count_uses(a, m, body);
  ir_block_data *b = ir_block_get(m, body);
  uint32_t kept = b->ops.count - 1;
  for (uint32_t i = b->ops.count - 1; i-- > 0;) {
    ir_op op = b->ops.at[i];
    if (is_used(m, op, uses)) {
      b->ops.at[--kept] = op;
      continue;
    }
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_operands; k++) uses[ir_operand(m, op, k)]--;
  }
  memmove(b->ops.at, b->ops.at + kept, (b->ops.count - kept) * sizeof *b->ops.at);
  b->ops.count -= kept;
  arena_destroy(a);
}

void tile_single_trip(ir_module *m, ir_op loop) {
  arena *a = arena_create(m->ctx);
  ir_block body = ir_op_get(m, loop)->regions[0];
  folder f = {.m = m,
              .a = a,
              .known = ARENA_ARRAY(a, known, m->values.count),
              .position = ARENA_ARRAY(a, int64_t, m->values.count),
              .map = ir_map_new(a, m)};
  ir_block_data *b = ir_block_get(m, body);
  for (uint32_t i = 0; i < 2; i++) f.known[b->args.at[i]] = (known){true, true, 0};
  for (uint32_t i = 0; i < b->ops.count; i++) {
    ir_op_data *d = ir_op_get(m, b->ops.at[i]);
    for (uint32_t k = 0; k < d->n_operands; k++) d->operands[k] = ir_map_get(f.map, d->operands[k]);
    if (d->n_results) fold_op(&f, b->ops.at[i]);
  }
  tile_drop_unused(m, body);
  arena_destroy(a);
}
