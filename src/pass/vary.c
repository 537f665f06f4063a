/* Along which dimensions a value varies. See vary.h. */
#include "pass/vary.h"

#include "ir/maps.h"

enum { DEEPEST = 100 }; /* ops that are looked through one after the other */

typedef struct fact {
  pass_dims dims;
  ir_value compact; /* IR_NONE: not made yet */
  uint8_t depth;    /* ops that are looked through; 0: as it stands */
  bool known;
} fact;

struct pass_vary {
  ir_module *m;
  fact *facts; /* by value */
  uint32_t room;
};

pass_vary *pass_vary_new(arena *scratch, ir_module *m) {
  pass_vary *t = ARENA_NEW(scratch, pass_vary);
  *t = (pass_vary){m, ARENA_ARRAY(scratch, fact, m->values.count), m->values.count};
  return t;
}

static pass_dims bit(int64_t d) { return (pass_dims)1 << d; }

pass_dims pass_long_dims(const ir_module *m, ir_value v) {
  const ir_type_data *t = ir_type_at(m, v);
  pass_dims dims = 0;
  for (int32_t d = 0; t->kind == IR_TYPE_TENSOR && d < t->rank; d++)
    if (t->dims[d] != 1) dims |= bit(d);
  return dims;
}

pass_dims pass_varies(const pass_vary *t, ir_value v) {
  return v < t->room && t->facts[v].known ? t->facts[v].dims : pass_long_dims(t->m, v);
}

static uint8_t depth_of(const pass_vary *t, ir_value v) {
  return v < t->room ? t->facts[v].depth : 0;
}

/* ---- looking through ops ---- */
static bool moved_dims(const pass_vary *t, ir_op op, fact *out) {
  int32_t to[IR_MAX_RANK];
  if (!ir_moved_dims(t->m, op, to)) return false;
  ir_value x = ir_operand(t->m, op, 0);
  pass_dims dims = pass_varies(t, x);
  for (int32_t i = 0; i < ir_type_at(t->m, x)->rank; i++)
    if (dims & bit(i)) out->dims |= bit(to[i]);
  out->depth = depth_of(t, x) + 1;
  return true;
}

static bool elementwise_dims(const pass_vary *t, ir_op op, fact *out) {
  const ir_op_data *d = ir_op_get(t->m, op);
  if (!ir_is_elementwise(d->kind) || d->n_results != 1) return false;
  if (d->n_regions || pass_has_foreign_attrs(t->m, op)) return false;
  for (uint32_t i = 0; i < d->n_operands; i++) {
    ir_value x = d->operands[i];
    if (!ir_is_static_tensor(t->m, ir_type_of(t->m, x))) return false;
    if (ir_type_at(t->m, x)->rank == 0) continue; /* a predicate, bounds of clamp */
    if (!ir_same_dims(ir_type_at(t->m, x), ir_type_at(t->m, d->first_result))) return false;
    out->dims |= pass_varies(t, x);
    if (depth_of(t, x) >= out->depth) out->depth = depth_of(t, x) + 1;
  }
  return true;
}

static bool leaf_dims(const pass_vary *t, ir_op op, fact *out) {
  ir_value v = ir_result(t->m, op, 0);
  if (ir_is_splat_constant(t->m, v)) out->dims = 0;
  else if (ir_kind_of(t->m, op) == IR_OP_IOTA)
    out->dims = bit(ir_op_int(t->m, op, "iota_dimension", 0)) & pass_long_dims(t->m, v);
  else return false;
  return true;
}

void pass_vary_op(pass_vary *t, ir_op op) {
  const ir_op_data *d = ir_op_get(t->m, op);
  ir_value v = d->first_result;
  if (d->n_results != 1 || v >= t->room || !ir_is_static_tensor(t->m, ir_type_of(t->m, v))) return;
  if (ir_type_at(t->m, v)->rank == 0) return;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!ir_is_static_tensor(t->m, ir_type_of(t->m, d->operands[i]))) return;
  fact f = {.depth = 1};
  bool moves = leaf_dims(t, op, &f) || moved_dims(t, op, &f);
  if (!moves && !elementwise_dims(t, op, &f)) return;
  if (f.depth > DEEPEST) return;
  f.known = moves || f.dims != pass_long_dims(t->m, v);
  if (!f.known) return;
  t->facts[v] = f;
}

/* ---- compact tensors ---- */
static int32_t list(pass_dims dims, int64_t *out) {
  int32_t n = 0;
  for (int32_t d = 0; d < IR_MAX_RANK; d++)
    if (dims & bit(d)) out[n++] = d;
  return n;
}

/* Where dimension d stands among `dims`. */
static int64_t place(pass_dims dims, int64_t d) {
  return __builtin_popcountll(dims & (bit(d) - 1));
}

static ir_type kept_type(ir_module *m, ir_value like, ir_dtype dtype, pass_dims dims) {
  const ir_type_data *t = ir_type_at(m, like);
  int64_t extents[IR_MAX_RANK];
  int32_t n = 0;
  for (int32_t d = 0; d < t->rank; d++)
    if (dims & bit(d)) extents[n++] = t->dims[d];
  return ir_tensor(m, dtype, n, extents);
}

/* The operand's compact tensor, its dimensions in the order of the result's. */
static ir_value compact_moved(pass_vary *t, ir_builder *b, ir_op op, pass_dims dims) {
  int32_t to[IR_MAX_RANK];
  CTX_CHECK(t->m->ctx, ir_moved_dims(t->m, op, to));
  ir_value x = ir_operand(t->m, op, 0);
  int64_t own[IR_MAX_RANK], permutation[IR_MAX_RANK];
  int32_t n = list(pass_varies(t, x), own);
  for (int32_t i = 0; i < n; i++) permutation[place(dims, to[own[i]])] = i;
  return ir_build_transpose(b, pass_compact(t, b, x), permutation);
}

static ir_value spread(ir_builder *b, ir_value x, pass_dims from, ir_type type, pass_dims to) {
  int64_t dims[IR_MAX_RANK];
  CTX_CHECK(b->m->ctx, !(from & ~to));
  if (from == to) return x;
  int32_t n = list(from, dims);
  for (int32_t i = 0; i < n; i++) dims[i] = place(to, dims[i]);
  return ir_build_broadcast(b, x, type, dims);
}

static ir_value compact_elementwise(pass_vary *t, ir_builder *b, ir_op op, pass_dims dims) {
  ir_value operands[8], v = ir_result(t->m, op, 0);
  uint32_t n = ir_op_get(t->m, op)->n_operands;
  CTX_CHECK(t->m->ctx, n <= sizeof operands / sizeof *operands);
  for (uint32_t i = 0; i < n; i++) {
    ir_value x = operands[i] = ir_operand(t->m, op, i);
    if (ir_type_at(t->m, x)->rank == 0) continue;
    ir_type type = kept_type(t->m, x, ir_type_at(t->m, x)->dtype, dims);
    operands[i] = spread(b, pass_compact(t, b, x), pass_varies(t, x), type, dims);
  }
  return pass_build_like(b, op, operands, kept_type(t->m, v, ir_type_at(t->m, v)->dtype, dims));
}

static ir_value compact_leaf(pass_vary *t, ir_builder *b, ir_op op, ir_type type) {
  if (ir_kind_of(t->m, op) == IR_OP_CONSTANT)
    return ir_build_constant(b, type, ir_attr_get(t->m, ir_op_attr(t->m, op, "value"))->data);
  if (ir_type_get(t->m, type)->rank == 0) return ir_build_splat_int(b, type, 0);
  return ir_build_iota(b, type, 0);
}

static ir_value make_compact(pass_vary *t, ir_builder *b, ir_value v) {
  pass_dims dims = pass_varies(t, v);
  ir_type type = kept_type(t->m, v, ir_type_at(t->m, v)->dtype, dims);
  if (v >= t->room || !t->facts[v].known) return ir_build_reshape(b, v, type);
  ir_op op = ir_value_get(t->m, v)->op;
  switch (ir_kind_of(t->m, op)) {
    case IR_OP_CONSTANT:
    case IR_OP_IOTA: return compact_leaf(t, b, op, type);
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_TRANSPOSE:
    case IR_OP_RESHAPE: return compact_moved(t, b, op, dims);
    default: return compact_elementwise(t, b, op, dims);
  }
}

/* Made where we are, or nobody's and visible everywhere. */
ir_value pass_compact(pass_vary *t, ir_builder *b, ir_value v) {
  ir_value made = v < t->room ? t->facts[v].compact : IR_NONE;
  if (made && ir_is_made_in(t->m, made, b->block)) return made;
  made = make_compact(t, b, v);
  CTX_CHECK(t->m->ctx, ir_type_at(t->m, made)->rank == __builtin_popcountll(pass_varies(t, v)));
  if (v < t->room) t->facts[v].compact = made;
  return made;
}

/* ---- arithmetic ---- */
ir_type pass_nd_type(pass_space *s, ir_dtype dtype, pass_dims dims) {
  int64_t extents[IR_MAX_RANK];
  int32_t n = list(dims, extents);
  for (int32_t i = 0; i < n; i++) extents[i] = s->extents[extents[i]];
  return ir_tensor(s->b.m, dtype, n, extents);
}

int64_t pass_nd_count(const pass_space *s, pass_dims dims) {
  int64_t count = 1;
  for (int32_t d = 0; d < IR_MAX_RANK; d++)
    if (dims & bit(d) && __builtin_mul_overflow(count, s->extents[d], &count)) return INT64_MAX;
  return count;
}

static ir_dtype dtype_of(const pass_space *s, pass_nd x) {
  return ir_type_at(s->b.m, x.value)->dtype;
}

pass_nd pass_nd_of(pass_space *s, ir_value v) {
  return (pass_nd){pass_compact(s->vary, &s->b, v), pass_varies(s->vary, v)};
}

pass_nd pass_nd_spread(pass_space *s, pass_nd x, pass_dims dims) {
  dims |= x.dims;
  ir_type type = pass_nd_type(s, dtype_of(s, x), dims);
  return (pass_nd){spread(&s->b, x.value, x.dims, type, dims), dims};
}

pass_nd pass_nd_convert(pass_space *s, pass_nd x, ir_dtype dtype) {
  return (pass_nd){ir_build_convert(&s->b, x.value, dtype), x.dims};
}

pass_nd pass_nd_binary(pass_space *s, ir_kind kind, pass_nd x, pass_nd y) {
  pass_dims dims = x.dims | y.dims;
  x = pass_nd_spread(s, x, dims);
  y = pass_nd_spread(s, y, dims);
  return (pass_nd){ir_build_binary(&s->b, kind, x.value, y.value), dims};
}

pass_nd pass_nd_scaled(pass_space *s, pass_nd x, double by) {
  ir_type scalar = ir_scalar(s->b.m, dtype_of(s, x));
  return pass_nd_binary(s, IR_OP_MULTIPLY, x, (pass_nd){ir_build_splat_real(&s->b, scalar, by), 0});
}

/* Positions among x's dimensions. */
static int32_t places(pass_nd x, pass_dims dims, int64_t *out) {
  int32_t n = list(dims & x.dims, out);
  for (int32_t i = 0; i < n; i++) out[i] = place(x.dims, out[i]);
  return n;
}

pass_nd pass_nd_sum(pass_space *s, pass_nd x, pass_dims dims) {
  int64_t at[IR_MAX_RANK];
  int32_t n = places(x, dims, at);
  return (pass_nd){ir_build_sum(&s->b, x.value, at, n), x.dims & ~dims};
}

/* What dot_general gives, its dimensions in the order of the space. */
static pass_nd in_order(pass_space *s, ir_value v, pass_dims batch, pass_dims lhs, pass_dims rhs) {
  int64_t now[IR_MAX_RANK], permutation[IR_MAX_RANK];
  int32_t n = list(batch, now);
  n += list(lhs & ~batch, now + n);
  n += list(rhs & ~batch, now + n);
  CTX_CHECK(s->b.m->ctx, n == ir_type_at(s->b.m, v)->rank);
  for (int32_t i = 0; i < n; i++) permutation[place(batch | lhs | rhs, now[i])] = i;
  return (pass_nd){ir_build_transpose(&s->b, v, permutation), batch | lhs | rhs};
}

static pass_nd contract(pass_space *s, pass_nd x, pass_nd y, pass_dims dims) {
  pass_dims batch = x.dims & y.dims & ~dims, free_x = x.dims & ~y.dims, free_y = y.dims & ~x.dims;
  if (free_y && (!free_x || __builtin_ctzll(free_y) < __builtin_ctzll(free_x))) /* no transpose */
    return contract(s, y, x, dims);
  int64_t xb[IR_MAX_RANK], yb[IR_MAX_RANK], xc[IR_MAX_RANK], yc[IR_MAX_RANK];
  ir_dot_numbers n = {.lhs_batch = {places(x, batch, xb), xb},
                      .rhs_batch = {places(y, batch, yb), yb},
                      .lhs_contract = {places(x, dims, xc), xc},
                      .rhs_contract = {places(y, dims, yc), yc}};
  return in_order(s, pass_build_dot(&s->b, x.value, y.value, &n, dtype_of(s, x)), batch,
                  batch | free_x, batch | free_y);
}

pass_nd pass_nd_dot(pass_space *s, pass_nd x, pass_nd y, pass_dims dims) {
  x = pass_nd_sum(s, x, dims & ~y.dims);
  y = pass_nd_sum(s, y, dims & ~x.dims);
  dims &= x.dims & y.dims;
  return dims ? contract(s, x, y, dims) : pass_nd_binary(s, IR_OP_MULTIPLY, x, y);
}
