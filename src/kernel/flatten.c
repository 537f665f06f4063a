#include "kernel/flatten.h"

#include "ir/attrs.h"
#include "kernel/elementwise.h"
#include "kernel/nest.h"
#include "machine/tuned.h"

typedef struct opening {
  ir_module *m;
  arena *a;
  ir_block to;
  ir_map *map;
} opening;

static ir_block region_of(const ir_module *m, ir_op loop, uint32_t r) {
  return ir_op_get(m, loop)->regions[r];
}

static ir_value arg_of(const ir_module *m, ir_op loop, uint32_t region, uint32_t i) {
  return ir_argument(m, region_of(m, loop, region), i);
}

static ir_value returned(const ir_module *m, ir_op loop, uint32_t region, uint32_t i) {
  return ir_yielded(m, region_of(m, loop, region), i);
}

static bool changes(const ir_module *m, ir_op loop, uint32_t i) {
  return returned(m, loop, 1, i) != arg_of(m, loop, 1, i);
}

static bool are_covered(const ir_module *m, ir_block block) {
  for (ir_op op, i = 0; (op = ir_body_op_at(m, block, i)); i++)
    if (!kernel_has_rule(m, op)) return false;
  return true;
}

bool kernel_can_flatten(const ir_module *m, ir_op loop) {
  uint32_t carries = 0;
  for (uint32_t i = 0; i < ir_op_get(m, loop)->n_operands; i++) {
    if (!ir_is_static_tensor(m, ir_type_of(m, ir_operand(m, loop, i)))) return false;
    if (!changes(m, loop, i)) continue;
    if (kernel_is_narrow(ir_type_at(m, ir_operand(m, loop, i))->dtype)) return false;
    carries++;
  }
  return carries > 0 && carries <= KERNEL_MOST_CARRIES && are_covered(m, region_of(m, loop, 0)) &&
         are_covered(m, region_of(m, loop, 1));
}

static ir_value mapped(const opening *w, ir_value v) { return ir_map_get(w->map, v); }

static ir_op new_op(opening *w, ir_kind kind, const ir_value *operands, uint32_t n_operands,
                    const ir_type *types, uint32_t n_results, int64_t turns, int64_t depth) {
  ir_op op = ir_build_op(&(ir_builder){w->m, w->to, IR_NONE}, kind, n_operands, operands, n_results,
                         types, 0, NULL, 0);
  ir_op_set_attr(w->m, op, "turns", ir_attr_int(w->m, turns, IR_I64), true);
  ir_op_set_attr(w->m, op, "depth", ir_attr_int(w->m, depth, IR_I64), true);
  return op;
}

static void open_block(opening *w, ir_block from, int64_t turns, int64_t depth);

static int64_t turns_inside(const opening *w, ir_op loop, int64_t turns) {
  int64_t trips = ir_trips(w->m, loop);
  return __builtin_mul_overflow(turns, trips < 0 ? TUNED_UNKNOWN_TRIPS : trips, &turns) ? INT64_MAX
                                                                                        : turns;
}

static void open_while(opening *w, ir_op loop, int64_t turns, int64_t depth) {
  ir_module *m = w->m;
  uint32_t n = ir_op_get(m, loop)->n_operands, carries = 0;
  int64_t inside = turns_inside(w, loop, turns);
  ir_value operands[2 * KERNEL_MOST_CARRIES + 1];
  ir_type types[KERNEL_MOST_CARRIES];
  for (uint32_t i = 0; i < n; i++) {
    ir_value v = mapped(w, ir_operand(m, loop, i));
    ir_type type = ir_type_of(m, v);
    if (changes(m, loop, i)) {
      ir_op op = new_op(w, IR_OP_CARRY, &v, 1, &type, 1, inside, depth + 1);
      types[carries] = type;
      operands[carries++] = v = ir_result(m, op, 0);
    } else {
      ir_map_set(w->map, ir_result(m, loop, i), v);
    }
    for (uint32_t r = 0; r < 2; r++) ir_map_set(w->map, arg_of(m, loop, r, i), v);
  }
  for (uint32_t r = 0; r < 2; r++) open_block(w, region_of(m, loop, r), inside, depth + 1);
  uint32_t last = carries;
  for (uint32_t i = 0; i < n; i++)
    if (changes(m, loop, i)) operands[last++] = mapped(w, returned(m, loop, 1, i));
  operands[last++] = mapped(w, returned(m, loop, 0, 0));
  ir_op op = new_op(w, IR_OP_REPEAT, operands, last, types, carries, turns, depth);
  for (uint32_t i = 0, j = 0; i < n; i++)
    if (changes(m, loop, i)) ir_map_set(w->map, ir_result(m, loop, i), ir_result(m, op, j++));
}

/* The terminator stays behind. */
static void open_block(opening *w, ir_block from, int64_t turns, int64_t depth) {
  for (ir_op op, i = 0; (op = ir_body_op_at(w->m, from, i)); i++) {
    if (ir_kind_of(w->m, op) == IR_OP_WHILE && kernel_can_flatten(w->m, op))
      open_while(w, op, turns, depth);
    else ir_copy_op(w->m, w->to, op, w->map);
  }
}

static bool has_whiles(const ir_module *m, ir_block body) {
  for (ir_op op, i = 0; (op = ir_op_at(m, body, i)); i++)
    if (ir_kind_of(m, op) == IR_OP_WHILE) return true;
  return false;
}

void kernel_flatten_whiles(ir_module *m, ir_op loop) {
  ir_block body = region_of(m, loop, 0);
  if (!has_whiles(m, body)) return;
  arena *a = arena_create(m->ctx);
  opening w = {m, a, ir_block_new(m), ir_map_new(a, m)};
  open_block(&w, body, 1, 0);
  ir_op end = ir_terminator(m, body);
  for (uint32_t i = 0; i < ir_op_get(m, end)->n_operands; i++)
    ir_op_get(m, end)->operands[i] = mapped(&w, ir_operand(m, end, i));
  ir_block_get(m, body)->ops.count = 0;
  for (ir_op op, i = 0; (op = ir_op_at(m, w.to, i)); i++) ir_block_append(m, body, op);
  ir_block_append(m, body, end);
  arena_destroy(a);
}
