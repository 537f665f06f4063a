/* systems: what a tridiagonal matrix is like is asked apart from its right-hand sides.
 *
 *   l, d, u, x, ok = gtsv(l, d, u, B)
 *
 * becomes, where 0 is a single column,
 *
 *   l, d, u, _, ok = gtsv(l, d, u, 0)
 *   _, _, _, x, _  = gtsv(l, d, u, B)
 *
 * LAPACK solves all columns of B at once, leaves the factors of the one matrix, and says once
 * whether it found any. All readers of x select by that; so with it x could not be made in slices
 * of columns that anybody reads before the last one is there.
 *
 * Requires nothing, breaks nothing. Exact: elimination and pivots do not look at B. Left alone: a
 * single column, and calls of which only x is read. Cost: one column more. Source: LAPACK's gtsv.
 */
#include "ir/attrs.h"
#include "ir/lapack.h"
#include "pass/pass.h"

enum { RIGHT_SIDES = 3, N_RESULTS = 5 };

static bool is_of_columns(const pass_rewrite *f, ir_op op) {
  if (ir_kind_of(f->m, op) != IR_OP_CUSTOM_CALL || !ir_is_lapack(f->m, op, "gtsv") ||
      ir_lapack_batch_rank(f->m, op) < 0)
    return false;
  const ir_type_data *b = ir_type_at(f->m, ir_operand(f->m, op, RIGHT_SIDES));
  return b->dims[b->rank - 1] > 1;
}

static bool is_read(const pass_rewrite *f, ir_op op, uint32_t result) {
  return f->uses[ir_result(f->m, op, result)] > 0;
}

static bool is_matrix_read(const pass_rewrite *f, ir_op op) {
  bool is = false;
  for (uint32_t j = 0; j < N_RESULTS && !is; j++) is = j != RIGHT_SIDES && is_read(f, op, j);
  return is;
}

/* The call with a single column of zeros. */
static ir_op of_one_column(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  ir_op_desc d = ir_op_desc_of(m, op);
  ir_type b = ir_type_of(m, d.operands[RIGHT_SIDES]), types[N_RESULTS];
  b = ir_tensor_with_dim(m, b, ir_type_get(m, b)->rank - 1, 1);
  for (uint32_t j = 0; j < N_RESULTS; j++)
    types[j] = j == RIGHT_SIDES ? b : ir_type_of(m, ir_result(m, op, j));
  ir_value zeros = ir_build_zeros(&f->b, b),
           operands[] = {d.operands[0], d.operands[1], d.operands[2], zeros};
  d.operands = operands;
  d.result_types = types;
  ir_op made = ir_op_new(m, f->b.block, &d);
  ir_op_drop_attr(m, made, "sdy.sharding_rule"); /* names sizes */
  return made;
}

static bool replace(pass_rewrite *f, ir_op op) {
  if (!is_of_columns(f, op) || !is_read(f, op, RIGHT_SIDES) || !is_matrix_read(f, op)) return false;
  ir_op one = of_one_column(f, op);
  for (uint32_t j = 0; j < N_RESULTS; j++)
    if (j != RIGHT_SIDES) ir_map_set(f->map, ir_result(f->m, op, j), ir_result(f->m, one, j));
  f->p->changed = true;
  return false; /* stays, for x */
}

const pass pass_systems = {"systems", .replace = replace};
