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

bool pass_can_write_trips(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_WHILE || ir_op_get(m, op)->n_attrs) return false;
  for (ir_walk w = ir_walk_block(m, ir_body(m, op)); ir_next(&w);)
    if (ir_has_effects(m, w.op)) return false;
  return true;
}

void pass_write_trips(ir_module *m, ir_op op, int64_t trips, ir_block to, ir_map *map) {
  ir_block body = ir_while_body(m, op);
  uint32_t n = ir_op_get(m, op)->n_operands;
  arena *scratch = arena_create(m->ctx);
  ir_value *carries = ARENA_ARRAY(scratch, ir_value, n);
  CTX_CHECK(m->ctx, trips >= 0 && pass_can_write_trips(m, op));
  for (uint32_t i = 0; i < n; i++) carries[i] = ir_operand(m, op, i);
  for (int64_t trip = 0; trip < trips; trip++) {
    for (uint32_t i = 0; i < n; i++) ir_map_set(map, ir_argument(m, body, i), carries[i]);
    ir_copy_body(m, body, to, NULL, map);
    for (uint32_t i = 0; i < n; i++) carries[i] = ir_map_get(map, ir_yielded(m, body, i));
  }
  for (uint32_t i = 0; i < n; i++) ir_map_set(map, ir_result(m, op, i), carries[i]);
  arena_destroy(scratch);
}

static bool replace(pass_rewrite *r, ir_op op) {
  int64_t trips = pass_can_write_trips(r->m, op) ? ir_trips(r->m, op) : -1;
  if (trips != 0 && trips != 1) return false;
  pass_write_trips(r->m, op, trips, r->b.block, r->map);
  return true;
}

const pass pass_once = {.name = "once", .replace = replace};
