/* unbundle: an optimization_barrier of n values -> n barriers of one value each.
 *
 * Requires nothing. Identity: a barrier passes its values through. What it loses is the order
 * between the components, which costs nothing in results; what it keeps is what JAX's remat uses it
 * for: XLA may not merge the recomputed value with the first one. A barrier of one value can be
 * split along any factor of that value; one of many would tie together values that have nothing to
 * do with each other. Only for programs that are to be split.
 */
#include "pass/pass.h"

static bool replace(pass_rewrite *f, ir_op op) {
  const ir_op_data d = *ir_op_get(f->m, op);
  if (d.kind != IR_OP_OPTIMIZATION_BARRIER || d.n_operands <= 1) return false;
  for (uint32_t i = 0; i < d.n_operands; i++)
    ir_map_set(f->map, d.first_result + i,
               ir_build(&f->b, IR_OP_OPTIMIZATION_BARRIER, 1, &d.operands[i],
                        ir_type_of(f->m, d.operands[i]), d.n_attrs, d.attrs));
  return true;
}

const pass pass_unbundle = {"unbundle", .replace = replace};
