#include "split/masked.h"

bool split_select_in_body(ir_builder *b, ir_op product, ir_value *operands, uint32_t *out_side) {
  uint32_t side = *out_side = ir_mask_side(b->m, product);
  if (side == IR_NO_SIDE || !operands[0] || !operands[1]) return false;
  if (ir_is_converted_mask(b->m, operands[side])) return false;
  operands[1 - side] = ir_build_masked(b, product, operands, side);
  return true;
}

const uint8_t *split_mask_sides(arena *scratch, const ir_module *m, ir_block block) {
  uint8_t *sides = ARENA_ARRAY(scratch, uint8_t, m->ops.count);
  memset(sides, IR_NO_SIDE, m->ops.count);
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++) sides[op] = (uint8_t)ir_mask_side(m, op);
  return sides;
}

typedef struct products {
  const uint8_t *sides;
  ir_op first_new;
} products;

static uint32_t parted_side(const void *user, const ir_module *m, ir_op op) {
  const products *p = user;
  uint32_t side = op < p->first_new ? p->sides[op] : IR_NO_SIDE;
  bool is_parted = side != IR_NO_SIDE && !ir_is_converted_mask(m, ir_operand(m, op, side));
  return is_parted ? side : IR_NO_SIDE;
}

void split_select_masked(ir_module *m, ir_block block, const uint8_t *sides, ir_op first_new) {
  ir_select_masked(m, block, parted_side, &(products){sides, first_new});
}
