/* permuted: what is gathered in the order of its own sort is what the sort has put out.
 *
 *   s, p = sort(x, iota)    x[p] = s        (x[argsort(x)]; unique, lexsort)
 *
 * The gather goes, and with it p, where nobody else reads it: the sort then moves one array, not
 * two. Looked through are reshapes and moves of dimensions of 1, and p < 0 ? p + n : p, which is p.
 *
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Exact: a sort
 * moves all its arrays by one permutation, whatever the comparison says. Left alone: sorts of more
 * than one dimension, indices too narrow to count the elements, gathers of another array. Cost:
 * linear.
 */
#include "pass/build.h"

enum { MOST_STEPS = 16 };

/* All elements lie along one dimension: then no move changes their order. */
static bool is_line(const ir_module *m, ir_value v, int64_t n) {
  const ir_type_data *t = ir_type_at(m, v);
  bool found = false;
  if (!ir_is_static_tensor(m, ir_type_of(m, v))) return false;
  for (int32_t i = 0; i < t->rank; i++) {
    if (t->dims[i] == 1) continue;
    if (found || t->dims[i] != n) return false;
    found = true;
  }
  return found;
}

static bool reverses_nothing(ir_module *m, ir_op op) {
  ir_ints dims = ir_op_list(m, op, "dimensions");
  for (int32_t i = 0; i < dims.count; i++)
    if (ir_type_at(m, ir_operand(m, op, 0))->dims[dims.at[i]] != 1) return false;
  return true;
}

/* Its result has its operand's n elements in the same order. */
static bool keeps_order(ir_module *m, ir_op op, int64_t n) {
  ir_kind k = ir_kind_of(m, op);
  if (k == IR_OP_RESHAPE) return true;
  bool moves = k == IR_OP_TRANSPOSE || k == IR_OP_BROADCAST_IN_DIM ||
               (k == IR_OP_REVERSE && reverses_nothing(m, op));
  return moves && is_line(m, ir_operand(m, op, 0), n) && is_line(m, ir_result(m, op, 0), n);
}

/* What has the same n > 1 elements in the same order. */
static ir_value unmoved(ir_module *m, ir_value v, int64_t n) {
  for (int step = 0; step < MOST_STEPS; step++) {
    ir_op op = ir_value_get(m, v)->op;
    if (!op || !keeps_order(m, op, n)) return v;
    v = ir_operand(m, op, 0);
  }
  return v;
}

/* p, of p < 0 ? p + n : p. */
static ir_value without_wrap(ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_SELECT);
  if (!op) return v;
  ir_value p = ir_operand(m, op, 2);
  ir_op test = ir_value_get(m, ir_operand(m, op, 0))->op;
  ir_direction direction;
  ir_compare_type type;
  if (!test || ir_kind_of(m, test) != IR_OP_COMPARE || ir_operand(m, test, 0) != p ||
      !ir_compare_kind(m, test, &direction, &type) || direction != IR_LT)
    return v;
  return ir_is_zero(m, ir_operand(m, test, 1)) ? p : v;
}

/* Enough for the indices of n elements. */
static bool counts(ir_dtype d, int64_t n) {
  return n <= INT32_MAX && (d == IR_I32 || d == IR_I64 || d == IR_UI32 || d == IR_UI64);
}

/* One element of a vector for each of n indices. */
static bool picks_elements(pass_rewrite *f, ir_op op) {
  ir_gather_numbers n;
  ir_module *m = f->m;
  return ir_kind_of(m, op) == IR_OP_GATHER && pass_is_static(m, op) &&
         ir_type_at(m, ir_operand(m, op, 0))->rank == 1 &&
         ir_type_at(m, ir_result(m, op, 0))->rank == 1 &&
         ir_gather_dims(f->p->scratch, m, op, &n) && n.collapsed_slice_dims.count == 1 &&
         ir_type_of(m, ir_operand(m, op, 0)) == ir_type_of(m, ir_result(m, op, 0)) &&
         ir_type_at(m, ir_operand(m, op, 0))->dims[0] > 1;
}

/* The sort whose permutation v is; IR_NONE: of none. */
static ir_op sort_of(ir_module *m, ir_value v, int64_t n) {
  ir_op op = ir_value_get(m, v)->op;
  const ir_type_data *t = ir_type_at(m, v);
  if (!op || ir_kind_of(m, op) != IR_OP_SORT || t->rank != 1 || t->dims[0] != n ||
      !counts(t->dtype, n))
    return IR_NONE;
  return pass_counted_dim(m, ir_operand(m, op, ir_value_get(m, v)->index)) == 0 ? op : IR_NONE;
}

static bool replace(void *user, ir_block block, ir_op op) {
  pass_rewrite *f = user;
  ir_module *m = f->m;
  (void)block;
  if (!picks_elements(f, op)) return false;
  ir_value x = ir_operand(m, op, 0);
  int64_t n = ir_type_at(m, x)->dims[0];
  ir_value p = unmoved(m, without_wrap(m, unmoved(m, ir_operand(m, op, 1), n)), n);
  ir_op sort = sort_of(m, p, n);
  if (!sort) return false;
  for (uint32_t i = 0; i < ir_op_get(m, sort)->n_operands; i++) {
    ir_value sorted = ir_result(m, sort, i);
    if (unmoved(m, ir_operand(m, sort, i), n) != unmoved(m, x, n) ||
        ir_type_of(m, sorted) != ir_type_of(m, ir_result(m, op, 0)))
      continue;
    ir_map_set(f->map, ir_result(m, op, 0), sorted);
    return f->changed = true;
  }
  return false;
}

static weir_status run(pass_ctx *p, ir_module *m, bool *out_changed) {
  return pass_rewrite_ops(p, m, replace, out_changed);
}

const pass pass_permuted = {"permuted", run};
