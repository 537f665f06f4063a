#include "pass/line.h"

#include "ir/maps.h"
#include "pass/build.h"

enum { MOST_STEPS = 16 };

/* ---- lines ---- */
/* The dimension that all n elements lie along; PASS_LINE_IN_ORDER: there is none. */
static int32_t only_dim(const ir_module *m, ir_value v, int64_t n) {
  const ir_type_data *t = ir_type_at(m, v);
  int32_t found = PASS_LINE_IN_ORDER;
  for (int32_t i = 0; i < t->rank; i++) {
    if (t->dims[i] == 1) continue;
    if (found != PASS_LINE_IN_ORDER || t->dims[i] != n) return PASS_LINE_IN_ORDER;
    found = i;
  }
  return found;
}

pass_line pass_line_whole(const ir_module *m, ir_value v, int64_t n) {
  return (pass_line){.v = v, .dim = only_dim(m, v, n)};
}

bool pass_line_is_same(const ir_module *m, const pass_line *a, const pass_line *b) {
  if (a->v != b->v || a->dim != b->dim) return false;
  for (int32_t i = 0; a->dim != PASS_LINE_IN_ORDER && i < ir_type_at(m, a->v)->rank; i++)
    if (i != a->dim && a->at[i] != b->at[i]) return false;
  return true;
}

/* Of a broadcast, transpose, or reshape that merges nothing. */
static bool through_move(ir_module *m, ir_op op, pass_line *l) {
  int32_t to[IR_MAX_RANK];
  pass_line from = {.v = ir_operand(m, op, 0), .dim = PASS_LINE_IN_ORDER};
  const ir_type_data *t = ir_type_at(m, from.v);
  if (!ir_moved_dims(m, op, to)) return false;
  for (int32_t i = 0; i < t->rank; i++) {
    if (to[i] == l->dim) from.dim = i;
    else if (to[i] != IR_ALONE && t->dims[i] > 1) from.at[i] = l->at[to[i]];
  }
  if (from.dim == PASS_LINE_IN_ORDER || t->dims[from.dim] != ir_type_at(m, l->v)->dims[l->dim])
    return false;
  *l = from;
  return true;
}

static bool through_reshape(ir_module *m, ir_op op, pass_line *l, int64_t n) {
  if (l->dim != PASS_LINE_IN_ORDER && only_dim(m, l->v, n) == PASS_LINE_IN_ORDER) return false;
  *l = pass_line_whole(m, ir_operand(m, op, 0), n);
  return true;
}

/* Elements that stay where they are along the line. */
static bool through_slice(ir_module *m, ir_op op, pass_line *l) {
  ir_ints start = ir_op_list(m, op, "start_indices"), stride = ir_op_list(m, op, "strides");
  ir_value x = ir_operand(m, op, 0);
  if (ir_type_at(m, x)->dims[l->dim] != ir_type_at(m, l->v)->dims[l->dim]) return false;
  for (int32_t i = 0; i < ir_type_at(m, x)->rank; i++)
    if (i != l->dim) l->at[i] = start.at[i] + l->at[i] * stride.at[i];
  l->v = x;
  return true;
}

static bool through_reverse(ir_module *m, ir_op op, pass_line *l) {
  ir_ints dims = ir_op_list(m, op, "dimensions");
  if (ir_ints_have(dims, l->dim)) return false;
  for (int32_t i = 0; i < dims.count; i++)
    l->at[dims.at[i]] = ir_type_at(m, l->v)->dims[dims.at[i]] - 1 - l->at[dims.at[i]];
  l->v = ir_operand(m, op, 0);
  return true;
}

static bool through_concatenate(ir_module *m, ir_op op, pass_line *l) {
  int64_t dim = ir_op_int(m, op, "dimension", 0);
  if (dim == l->dim) return false;
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++) {
    int64_t length = ir_type_at(m, ir_operand(m, op, i))->dims[dim];
    if (l->at[dim] < length) {
      l->v = ir_operand(m, op, i);
      return true;
    }
    l->at[dim] -= length;
  }
  return false;
}

static bool step_back(ir_module *m, pass_line *l, int64_t n) {
  ir_op op = ir_value_get(m, l->v)->op;
  if (!op || !pass_is_static(m, op)) return false;
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_RESHAPE && through_reshape(m, op, l, n)) return true;
  if (l->dim == PASS_LINE_IN_ORDER) return false;
  switch (kind) {
    case IR_OP_RESHAPE:
    case IR_OP_TRANSPOSE:
    case IR_OP_BROADCAST_IN_DIM: return through_move(m, op, l);
    case IR_OP_SLICE: return through_slice(m, op, l);
    case IR_OP_REVERSE: return through_reverse(m, op, l);
    case IR_OP_CONCATENATE: return through_concatenate(m, op, l);
    default: return false;
  }
}

/* Where the same n > 1 elements stand in the same order. */
pass_line pass_line_origin(ir_module *m, pass_line l, int64_t n) {
  for (int step = 0; step < MOST_STEPS; step++)
    if (!step_back(m, &l, n)) break;
  return l;
}

/* ---- the permutation ---- */
/* p, of p < 0 ? p + n : p. */
static ir_value without_wrap(ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_SELECT);
  if (!op) return v;
  ir_value p = ir_operand(m, op, 2);
  ir_direction direction;
  ir_op test = ir_comparison(m, ir_operand(m, op, 0), &direction);
  if (!test || direction != IR_LT || ir_operand(m, test, 0) != p) return v;
  return ir_is_zero(m, ir_operand(m, test, 1)) ? p : v;
}

/* Enough for the indices of n elements. */
static bool counts(ir_dtype d, int64_t n) {
  return n <= INT32_MAX && (d == IR_I32 || d == IR_I64 || d == IR_UI32 || d == IR_UI64);
}

/* The sort whose permutation v is; IR_NONE: of none. */
static ir_op sort_of(ir_module *m, ir_value v, int64_t n) {
  ir_op op = ir_maker(m, v, IR_OP_SORT);
  const ir_type_data *t = ir_type_at(m, v);
  if (!op || t->rank != 1 || t->dims[0] != n || !counts(t->dtype, n)) return IR_NONE;
  return pass_counted_dim(m, ir_operand(m, op, ir_value_get(m, v)->index)) == 0 ? op : IR_NONE;
}

/* The same integers of another type. */
static ir_value before_conversion(ir_module *m, ir_value v, int64_t n) {
  ir_op op = ir_maker(m, v, IR_OP_CONVERT);
  if (!op || !counts(ir_type_at(m, v)->dtype, n)) return v;
  ir_value x = ir_operand(m, op, 0);
  return counts(ir_type_at(m, x)->dtype, n) ? x : v;
}

ir_op pass_line_sort(ir_module *m, ir_value v, int64_t n, ir_value *out_places) {
  if (!ir_is_static_tensor(m, ir_type_of(m, v)) || n < 2) return IR_NONE;
  pass_line p = pass_line_whole(m, v, n);
  for (ir_value last = IR_NONE; p.v != last && p.dim != PASS_LINE_IN_ORDER;) {
    last = p.v;
    p = pass_line_origin(m, p, n);
    p = pass_line_whole(m, without_wrap(m, before_conversion(m, p.v, n)), n);
  }
  *out_places = p.v;
  return p.dim == 0 ? sort_of(m, p.v, n) : IR_NONE;
}
