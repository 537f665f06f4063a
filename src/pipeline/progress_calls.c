#include "pipeline/progress_calls.h"

#include "ir/attrs.h"
#include "plan/explain.h"
#include "call/progress.h"

const char *progress_label(arena *a, const ir_module *m, ir_op loop) {
  ir_attr name = ir_op_attr(m, m->root, "sym_name");
  const char *line = plan_source_line(a, m, ir_op_get(m, loop)->location);
  const char *program = name ? ir_text(m, ir_attr_get(m, name)->text) : "a program";
  char *label = arena_printf(a, "%s, %s", program, line ? line : "a loop");
  if (strlen(label) >= PROGRESS_LABEL) label[PROGRESS_LABEL - 1] = '\0';
  return label;
}

static void add_call(ir_module *m, ir_op loop) {
  ir_block body = ir_body(m, loop);
  ir_loop l = ir_loop_get(m, loop);
  ir_block_data *block = ir_block_get(m, body);
  uint32_t n = block->ops.count;
  ir_op *old = ARENA_COPY(m->arena, ir_op, block->ops.at, n);
  block->ops.count = 0;
  ir_builder b = {m, body, ir_op_get(m, loop)->location};
  ir_type type = ir_scalar(m, IR_I64);
  ir_value operands[] = {ir_argument(m, body, 1), ir_build_splat_int(&b, type, l.slice),
                         ir_build_splat_int(&b, type, l.extent)};
  ir_text_entry label = {"label", progress_label(m->arena, m, loop)};
  ir_op call = ir_build_ffi_call(&b, PROGRESS_CALL_TARGET, operands, 3, NULL, 0, &label, 1);
  ir_op_set_attr(m, call, "has_side_effect", ir_attr_bool(m, true), true);
  for (uint32_t i = 0; i < n; i++) ir_block_append(m, body, old[i]);
}

static int32_t add_in_block(ir_module *m, ir_block block) {
  int32_t count = 0;
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) {
    if (ir_kind_of(m, op) == IR_OP_LOOP) {
      if (ir_loop_get(m, op).trips > 1) add_call(m, op), count++;
      continue;
    }
    for (ir_block below, r = 0; (below = ir_next_block(m, op, &r));)
      count += add_in_block(m, below);
  }
  return count;
}

int32_t progress_add_calls(ir_module *m) { return add_in_block(m, ir_top(m)); }
