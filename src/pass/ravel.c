/* ravel: a reduction of all elements of what was flattened or sorted, before it is.
 *
 *   reduce(f(reshape(x)), all dimensions) = reduce(f(x), all dimensions)      f elementwise
 *   reduce(f(sort(x)), all dimensions)    = reduce(f(x), all dimensions)      ... of nothing else
 *
 * so that x's own dimensions are there to split along, no reshape is in the way of a kernel, and a
 * sort of which only elements are read (`quantile`) has no other user.
 * Requires: a verified module. Breaks: nothing; what lost its uses stays for dce. Exact, but sums
 * and products of floats are rounded in another order. Left alone: reductions over some dimensions,
 * of several arrays, by a function that is no monoid, of what is small against the limit or below
 * the threshold. Cost: linear. Source: XLA's AlgebraicSimplifier has it for reshapes alone.
 */
#include "pass/build.h"

static bool reduces_all(const pass_rewrite *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if (d->kind != IR_OP_REDUCE || d->n_operands != 2) return false;
  int32_t n = ir_op_list(f->m, op, "dimensions").count;
  return n > 0 && n == ir_type_at(f->m, d->operands[0])->rank &&
         ir_is_static_tensor(f->m, ir_type_of(f->m, d->operands[0])) &&
         ir_is_monoid(ir_reducer_kind(f->m, d->regions[0])) &&
         ir_value_bytes(f->m, d->operands[0]) > f->small_bytes;
}

static bool replace(pass_rewrite *f, ir_op op) {
  if (!reduces_all(f, op)) return false;
  ir_value x = ir_operand(f->m, op, 0);
  ir_value from = pass_build_unflattened(&f->b, pass_build_unsorted(&f->b, x));
  if (from == x) return false;
  int32_t rank = ir_type_at(f->m, from)->rank;
  ir_kind kind = ir_reducer_kind(f->m, ir_body(f->m, op));
  ir_value made = ir_build_reduce(&f->b, kind, from, ir_operand(f->m, op, 1), ir_all_dims, rank);
  return pass_stand_in(f->m, f->map, op, made);
}

const pass pass_ravel = {"ravel", .replace = replace};
