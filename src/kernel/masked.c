#include "kernel/masked.h"

/* p, where v is convert(p); IR_NONE. */
static ir_value mask_of(ir_module *m, ir_value v) {
  ir_op op = ir_maker(m, v, IR_OP_CONVERT);
  bool is_mask = op && ir_type_at(m, ir_operand(m, op, 0))->dtype == IR_I1 &&
                 ir_dtype_class_of(ir_type_at(m, v)->dtype) == IR_CLASS_FLOAT &&
                 ir_type_at(m, v)->dtype != IR_BF16;
  return is_mask ? ir_operand(m, op, 0) : IR_NONE;
}

/* The product's result as it is selected; IR_NONE: no factor is a mask. */
static ir_value selected(ir_module *m, ir_block body, ir_op product) {
  ir_builder b = {m, body, ir_op_get(m, product)->location};
  for (uint32_t i = 0; i < 2; i++) {
    ir_value mask = mask_of(m, ir_operand(m, product, i));
    if (!mask) continue;
    ir_value zero = ir_build_splat_real(&b, ir_type_of(m, ir_result(m, product, 0)), 0);
    return ir_build_select(&b, mask, ir_operand(m, product, 1 - i), zero);
  }
  return IR_NONE;
}

void kernel_select_masked(ir_module *m, ir_op loop) {
  arena *a = arena_create(m->ctx);
  ir_map *map = ir_map_new(a, m);
  ir_block body = ir_body(m, loop);
  ir_ops old = ir_take_ops(m, body);
  for (uint32_t i = 0; i < old.count; i++) {
    ir_op op = old.at[i];
    ir_rename_operands(m, op, map);
    ir_value made = ir_kind_of(m, op) == IR_OP_MULTIPLY ? selected(m, body, op) : IR_NONE;
    if (made) ir_map_set(map, ir_result(m, op, 0), made);
    else ir_block_append(m, body, op);
  }
  arena_destroy(a);
}
