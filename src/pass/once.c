/* once: a while that runs one trip is its body, one that runs none is what it begins with.
 *
 *   while(i = 0, x) { i < 1 } do { i + 1, f(x) }      =      1, f(x)
 *
 * XLA does so itself. A scan of one step is such a while: its stacks have one element, and what
 * its step keeps for the gradient is read where it is made.
 *
 * Requires: a verified module. Breaks: nothing. Exact. Left alone: whiles with attributes, and
 * those whose condition has effects. Cost: a copy of the body. Source: XLA, while_loop_simplifier.
 */
#include "ir/attrs.h"
#include "pass/pass.h"

static bool is_simple(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_WHILE || ir_op_get(m, op)->n_attrs) return false;
  for (ir_walk w = ir_walk_block(m, ir_body(m, op)); ir_next(&w);)
    if (ir_has_effects(m, w.op)) return false;
  return true;
}

static bool replace(pass_rewrite *r, ir_op op) {
  ir_module *m = r->m;
  if (!is_simple(m, op)) return false;
  int64_t trips = ir_trips(m, op);
  if (trips != 0 && trips != 1) return false;
  ir_block body = ir_while_body(m, op);
  uint32_t n = ir_op_get(m, op)->n_operands;
  for (uint32_t i = 0; i < n; i++)
    ir_map_set(r->map, ir_argument(m, body, i), ir_operand(m, op, i));
  if (trips) ir_copy_body(m, body, r->b.block, NULL, r->map);
  for (uint32_t i = 0; i < n; i++) {
    ir_value last = trips ? ir_yielded(m, body, i) : ir_argument(m, body, i);
    ir_map_set(r->map, ir_result(m, op, i), ir_map_get(r->map, last));
  }
  return true;
}

const pass pass_once = {.name = "once", .replace = replace};
