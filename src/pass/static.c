/* static: ops whose sizes are operands -> the ops whose sizes are attributes.
 *
 *   dynamic_reshape(x, n), dynamic_broadcast_in_dim(x, n), dynamic_iota(n)
 *       -> reshape(x), broadcast_in_dim(x), iota      n says what the result's type says
 *   real_dynamic_slice, dynamic_pad, dynamic_gather, dynamic_conv
 *       -> slice, pad, gather, convolution            of constant bounds, paddings, sizes
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Exact: the same
 * op. Where the sizes are not known, but all types are, they can only be the types' own: anything
 * else is undefined behaviour. Left alone: dynamic types, bounds that are computed from data,
 * constants that contradict the types, ops that their static spelling's rule would not take (of
 * the dynamic ones the verifier knows nothing).
 * Source: StableHLO specification; its pass stablehlo-canonicalize-dynamism.
 */
#include "ir/attrs.h"
#include "pass/pass.h"

enum { MOST_LISTS = 3, MOST_INTS = 2 * IR_MAX_RANK, MOST_STEPS = 256 };

typedef struct spelling {
  ir_kind from, to;
  uint32_t kept;                 /* operands that stay; the others are lists of integers */
  uint32_t n_lists;              /* 1 and no names: the result's shape */
  const char *names[MOST_LISTS]; /* the attributes that the lists become */
} spelling;

static const spelling spellings[] = {
    {IR_OP_DYNAMIC_RESHAPE, IR_OP_RESHAPE, 1, 1, {0}},
    {IR_OP_DYNAMIC_BROADCAST_IN_DIM, IR_OP_BROADCAST_IN_DIM, 1, 1, {0}},
    {IR_OP_DYNAMIC_IOTA, IR_OP_IOTA, 0, 1, {0}},
    {IR_OP_REAL_DYNAMIC_SLICE, IR_OP_SLICE, 1, 3, {"start_indices", "limit_indices", "strides"}},
    {IR_OP_DYNAMIC_PAD,
     IR_OP_PAD,
     2,
     3,
     {"edge_padding_low", "edge_padding_high", "interior_padding"}},
    {IR_OP_DYNAMIC_GATHER, IR_OP_GATHER, 2, 1, {"slice_sizes"}},
    {IR_OP_DYNAMIC_CONV, IR_OP_CONVOLUTION, 2, 1, {"padding"}}};

static const spelling *spelling_of(ir_kind kind) {
  for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
    if (spellings[i].from == kind) return &spellings[i];
  return NULL;
}

/* ---- integers that are known ---- */
typedef struct reading {
  ir_module *m;
  int steps; /* that may still be taken: no chain of ops costs more than MOST_STEPS */
} reading;

static bool read_ints(reading *r, ir_value v, int64_t *out_ints);

/* How many; -1: too many, or no integers of a known shape. */
static int64_t count_ints(const ir_module *m, ir_value v) {
  ir_type type = ir_type_of(m, v);
  if (!ir_is_static_tensor(m, type)) return -1;
  int64_t n = ir_element_count(m, type);
  return n <= MOST_INTS && ir_is_integer(ir_type_get(m, type)->dtype) ? n : -1;
}

/* The type has the number, so that arithmetic in it did not wrap around. */
static bool fits(ir_dtype dtype, int64_t x) {
  return x >= ir_lowest(dtype) && x <= ir_highest(dtype);
}

static bool read_constant(const reading *r, ir_op op, int64_t count, int64_t *out_ints) {
  int32_t n;
  const int64_t *ints = ir_op_ints(r->m, op, "value", &n);
  if (!ints || n != count) return false;
  memcpy(out_ints, ints, (size_t)count * sizeof *ints);
  return true;
}

static bool read_pieces(reading *r, ir_op op, int64_t count, int64_t *out_ints) {
  int64_t at = 0;
  if (ir_type_at(r->m, ir_result(r->m, op, 0))->rank != 1) return false;
  for (ir_value piece, i = 0; (piece = ir_operand_at(r->m, op, i)); i++) {
    int64_t n = count_ints(r->m, piece);
    if (n < 0 || n > count - at || !read_ints(r, piece, out_ints + at)) return false;
    at += n;
  }
  return at == count;
}

/* The one element everywhere. */
static bool read_spread(reading *r, ir_value x, int64_t count, int64_t *out_ints) {
  int64_t element;
  if (count_ints(r->m, x) != 1 || !read_ints(r, x, &element)) return false;
  for (int64_t i = 0; i < count; i++) out_ints[i] = element;
  return true;
}

static bool combined(ir_kind kind, int64_t x, int64_t y, int64_t *out) {
  switch (kind) {
    case IR_OP_ADD: return !__builtin_add_overflow(x, y, out);
    case IR_OP_SUBTRACT: return !__builtin_sub_overflow(x, y, out);
    case IR_OP_MULTIPLY: return !__builtin_mul_overflow(x, y, out);
    case IR_OP_MAXIMUM: return *out = x > y ? x : y, true;
    default: return *out = x < y ? x : y, true;
  }
}

static bool read_combined(reading *r, ir_op op, int64_t count, int64_t *out_ints) {
  int64_t other[MOST_INTS];
  ir_value x = ir_operand(r->m, op, 0), y = ir_operand(r->m, op, 1);
  if (count_ints(r->m, x) != count || count_ints(r->m, y) != count || !read_ints(r, x, out_ints) ||
      !read_ints(r, y, other))
    return false;
  for (int64_t i = 0; i < count; i++)
    if (!combined(ir_kind_of(r->m, op), out_ints[i], other[i], &out_ints[i])) return false;
  return true;
}

static bool read_op(reading *r, ir_op op, int64_t count, int64_t *out_ints) {
  ir_value x = ir_op_get(r->m, op)->n_operands ? ir_operand(r->m, op, 0) : IR_NONE;
  switch (ir_kind_of(r->m, op)) {
    case IR_OP_CONSTANT: return read_constant(r, op, count, out_ints);
    case IR_OP_CONCATENATE: return read_pieces(r, op, count, out_ints);
    case IR_OP_BROADCAST:
    case IR_OP_BROADCAST_IN_DIM: return read_spread(r, x, count, out_ints);
    case IR_OP_CONVERT:
    case IR_OP_RESHAPE: return count_ints(r->m, x) == count && read_ints(r, x, out_ints);
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
    case IR_OP_MULTIPLY:
    case IR_OP_MAXIMUM:
    case IR_OP_MINIMUM: return read_combined(r, op, count, out_ints);
    default: return false;
  }
}

/* v's elements in row-major order, count_ints() of them. */
static bool read_ints(reading *r, ir_value v, int64_t *out_ints) {
  ir_op op = ir_value_get(r->m, v)->op;
  int64_t count = count_ints(r->m, v);
  if (!op || count < 0 || r->steps-- <= 0 || !read_op(r, op, count, out_ints)) return false;
  for (int64_t i = 0; i < count; i++)
    if (!fits(ir_type_at(r->m, v)->dtype, out_ints[i])) return false;
  return true;
}

/* ---- the ops ---- */
/* Nothing is known of the shape operand, or it says what the type says. */
static bool may_have_shape(ir_module *m, ir_value shape, ir_type type) {
  int64_t ints[MOST_INTS];
  const ir_type_data *t = ir_type_get(m, type);
  if (ir_type_at(m, shape)->rank != 1 || count_ints(m, shape) != t->rank) return false;
  if (!read_ints(&(reading){m, MOST_STEPS}, shape, ints)) return true;
  return !t->rank || !memcmp(ints, t->dims, (size_t)t->rank * sizeof *ints);
}

/* The list as an attribute, of one dimension or, a convolution's padding, of two. */
static ir_attr list_attr(ir_module *m, ir_value list) {
  int64_t ints[MOST_INTS];
  const ir_type_data *t = ir_type_at(m, list);
  int64_t count = count_ints(m, list);
  if (count < 0 || t->rank < 1 || t->rank > 2 || !read_ints(&(reading){m, MOST_STEPS}, list, ints))
    return IR_NONE;
  if (t->rank == 1) return ir_attr_i64s(m, ints, (int32_t)count);
  bool same = count > 0;
  for (int64_t i = 1; i < count; i++) same &= ints[i] == ints[0];
  int64_t dims[] = {t->dims[0], t->dims[1]};
  return ir_attr_dense(m, ir_tensor(m, IR_I64, 2, dims), ints, same);
}

static bool read_lists(ir_module *m, ir_op op, const spelling *s, ir_attr *out_lists) {
  if (!s->names[0])
    return may_have_shape(m, ir_operand(m, op, s->kept), ir_type_of(m, ir_result(m, op, 0)));
  for (uint32_t i = 0; i < s->n_lists; i++)
    if (!(out_lists[i] = list_attr(m, ir_operand(m, op, s->kept + i)))) return false;
  return true;
}

/* In no block yet. */
static ir_op respell(ir_module *m, ir_op op, const spelling *s, const ir_attr *lists) {
  ir_op_desc desc = ir_op_desc_of(m, op);
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  desc.kind = s->to;
  desc.n_operands = s->kept;
  desc.result_types = &type;
  ir_op made = ir_op_new(m, IR_NONE, &desc);
  ir_op_drop_attr(m, made, "known_expanding_dimensions");
  ir_op_drop_attr(m, made, "known_nonexpanding_dimensions");
  for (uint32_t i = 0; i < s->n_lists && s->names[i]; i++)
    ir_op_set_attr(m, made, s->names[i], lists[i], true);
  return made;
}

static bool replace(pass_rewrite *f, ir_op op) {
  const spelling *s = spelling_of(ir_kind_of(f->m, op));
  ir_attr lists[MOST_LISTS];
  if (!s || ir_op_get(f->m, op)->n_operands != s->kept + s->n_lists ||
      ir_op_get(f->m, op)->n_results != 1 || !pass_is_static(f->m, op) ||
      !read_lists(f->m, op, s, lists))
    return false;
  ir_op made = respell(f->m, op, s, lists);
  if (!ir_obeys_rule(f->m, made)) return false;
  ir_block_append(f->m, f->b.block, made);
  return pass_stand_in(f->m, f->map, op, ir_result(f->m, made, 0));
}

const pass pass_static = {"static", .replace = replace};
