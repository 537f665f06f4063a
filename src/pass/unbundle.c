/* unbundle: an optimization_barrier of n values -> n barriers of one value each.
 *
 * Requires nothing. Identity: a barrier passes its values through. What it loses is the order
 * between the components, which costs nothing in results; what it keeps is what JAX's remat uses it
 * for: XLA may not merge the recomputed value with the first one. A barrier of one value can be
 * split along any factor of that value; one of many would tie together values that have nothing to
 * do with each other. Only for programs that are to be split.
 */
#include "pass/pass.h"

static void unbundle_op(ir_module *m, ir_block block, ir_op op, ir_map *renamed) {
  const ir_op_data d = *ir_op_get(m, op);
  for (uint32_t i = 0; i < d.n_operands; i++) {
    ir_type type = ir_type_of(m, d.operands[i]);
    ir_op single = ir_op_new(m, block,
                             &(ir_op_desc){.kind = IR_OP_OPTIMIZATION_BARRIER,
                                           .n_operands = 1,
                                           .operands = &d.operands[i],
                                           .n_results = 1,
                                           .result_types = &type,
                                           .n_attrs = d.n_attrs,
                                           .attrs = d.attrs,
                                           .location = d.location});
    ir_map_set(renamed, d.first_result + i, ir_result(m, single, 0));
  }
}

static bool unbundle_block(ir_module *m, ir_block block, ir_map *renamed) {
  bool changed = false;
  pass_ops ops = pass_take_ops(m, block);
  for (uint32_t i = 0; i < ops.count; i++) {
    ir_op op = ops.at[i];
    for (uint32_t r = 0; r < ir_op_get(m, op)->n_regions; r++)
      if (ir_op_get(m, op)->regions[r])
        changed |= unbundle_block(m, ir_op_get(m, op)->regions[r], renamed);
    bool bundle =
        ir_kind_of(m, op) == IR_OP_OPTIMIZATION_BARRIER && ir_op_get(m, op)->n_operands > 1;
    if (bundle) unbundle_op(m, block, op, renamed);
    else ir_block_append(m, block, op);
    changed |= bundle;
  }
  return changed;
}

static weir_status run(pass_ctx *p, ir_module *m, bool *out_changed) {
  ir_map *renamed = ir_map_new(p->scratch, m);
  ir_block top = ir_op_get(m, m->root)->regions[0];
  *out_changed = unbundle_block(m, top, renamed);
  if (*out_changed) ir_replace_uses(m, top, renamed);
  return WEIR_OK;
}

const pass pass_unbundle = {"unbundle", run};
