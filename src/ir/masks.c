#include "ir/masks.h"

#include "ir/attrs.h"

/* ---- masks ---- */
static bool repeats(const ir_module *m, ir_op broadcast) {
  return ir_element_count(m, ir_type_of(m, ir_operand(m, broadcast, 0))) <
         ir_element_count(m, ir_type_of(m, ir_result(m, broadcast, 0)));
}

bool ir_is_converted_mask(const ir_module *m, ir_value v) {
  ir_op moved = ir_maker(m, v, IR_OP_BROADCAST_IN_DIM);
  if (moved && !repeats(m, moved)) v = ir_operand(m, moved, 0);
  ir_op op = ir_maker(m, v, IR_OP_CONVERT);
  if (!op || ir_type_at(m, ir_operand(m, op, 0))->dtype != IR_I1) return false;
  ir_op before = ir_maker(m, ir_operand(m, op, 0), IR_OP_BROADCAST_IN_DIM);
  return !before || !repeats(m, before);
}

/* ---- products ---- */
static bool is_selected_dtype(ir_dtype dtype) {
  return (ir_is_float(dtype) && ir_dtype_bytes(dtype) > 1 && dtype != IR_BF16) ||
         ir_is_complex(dtype);
}

/* Every dimension of both sides is a batch or summed over. */
static bool is_elementwise_dot(const ir_module *m, ir_op dot, ir_dot_numbers *out) {
  const ir_type_data *lhs = ir_type_at(m, ir_operand(m, dot, 0)),
                     *rhs = ir_type_at(m, ir_operand(m, dot, 1));
  ir_dtype dtype = ir_type_at(m, ir_result(m, dot, 0))->dtype;
  return dtype != IR_F16 && lhs->dtype == dtype && rhs->dtype == dtype &&
         ir_dot_dims(m, dot, out) && out->lhs_batch.count + out->lhs_contract.count == lhs->rank &&
         rhs->rank == lhs->rank;
}

/* Dimension k of those of the product that XLA makes of the dot. */
static int64_t dim_at(const ir_dot_numbers *n, uint32_t side, int32_t k) {
  ir_ints batch = ir_dot_batch(n, side), contract = ir_dot_contract(n, side);
  return k < batch.count ? batch.at[k] : contract.at[k - batch.count];
}

/* XLA transposes neither side, or both alike. */
static bool is_known_again(const ir_dot_numbers *n, uint32_t side) {
  if (ir_ints_same(n->lhs_batch, n->rhs_batch) && ir_ints_same(n->lhs_contract, n->rhs_contract))
    return true;
  for (int32_t k = 0; k < n->lhs_batch.count + n->lhs_contract.count; k++)
    if (dim_at(n, side, k) != k) return false;
  return true;
}

bool ir_selects_by(const ir_module *m, ir_op op, uint32_t side) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind != IR_OP_MULTIPLY && kind != IR_OP_DOT_GENERAL) return false;
  if (side >= 2 || !is_selected_dtype(ir_type_at(m, ir_result(m, op, 0))->dtype)) return false;
  ir_dot_numbers n;
  return kind == IR_OP_MULTIPLY || (is_elementwise_dot(m, op, &n) && is_known_again(&n, side));
}

uint32_t ir_mask_side(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind != IR_OP_MULTIPLY && kind != IR_OP_DOT_GENERAL) return IR_NO_SIDE;
  for (uint32_t side = 0; side < 2; side++)
    if (ir_is_converted_mask(m, ir_operand(m, op, side)) && ir_selects_by(m, op, side)) return side;
  return IR_NO_SIDE;
}

/* ---- selecting ---- */
/* p, if the mask is convert(p) itself. */
static ir_value converted(const ir_module *m, ir_value mask) {
  ir_op op = ir_maker(m, mask, IR_OP_CONVERT);
  bool is_i1 = op && ir_type_at(m, ir_operand(m, op, 0))->dtype == IR_I1;
  return is_i1 ? ir_operand(m, op, 0) : IR_NONE;
}

/* p, of the mask's dimensions, in the order of the other side's. */
static ir_value as_other_side(ir_builder *b, ir_op product, ir_value p, uint32_t side) {
  ir_dot_numbers n;
  int64_t permutation[IR_MAX_RANK];
  if (ir_kind_of(b->m, product) == IR_OP_MULTIPLY) return p;
  CTX_CHECK(b->m->ctx, is_elementwise_dot(b->m, product, &n));
  for (int32_t k = 0; k < ir_type_at(b->m, p)->rank; k++)
    permutation[dim_at(&n, 1 - side, k)] = dim_at(&n, side, k);
  return ir_build_transpose(b, p, permutation);
}

ir_value ir_build_masked(ir_builder *b, ir_op product, const ir_value *operands, uint32_t side) {
  ir_value mask = operands[side], x = operands[1 - side], p = converted(b->m, mask);
  if (!p) p = ir_build_compare(b, "NE", mask, ir_build_int_like(b, mask, 0));
  p = as_other_side(b, product, p, side);
  return ir_build_select(b, p, x, ir_build_int_like(b, x, 0));
}

/* Its result. */
static ir_value masked(ir_builder *b, ir_op op, uint32_t side) {
  ir_module *m = b->m;
  ir_value operands[] = {ir_operand(m, op, 0), ir_operand(m, op, 1)};
  b->location = ir_op_get(m, op)->location;
  operands[1 - side] = ir_build_masked(b, op, operands, side);
  if (ir_kind_of(m, op) == IR_OP_MULTIPLY) return operands[1 - side];
  ir_type type = ir_type_of(m, ir_result(m, op, 0));
  return ir_result(m, ir_build_again(b, op, operands, &type), 0);
}

static bool any_selects(const ir_module *m, ir_block block, ir_side_of *side_of, const void *user) {
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    if (side_of(user, m, op) != IR_NO_SIDE) return true;
  return false;
}

void ir_select_masked(ir_module *m, ir_block block, ir_side_of *side_of, const void *user) {
  if (!any_selects(m, block, side_of, user)) return;
  arena *a = arena_create(m->ctx);
  ir_map *map = ir_map_new(a, m);
  ir_builder b = {m, block, IR_NONE};
  ir_ops old = ir_take_ops(m, block);
  for (ir_op op, i = 0; (op = ir_listed(&old, i)); i++) {
    uint32_t side = side_of(user, m, op);
    if (side == IR_NO_SIDE) ir_block_append(m, block, op);
    else ir_map_set(map, ir_result(m, op, 0), masked(&b, op, side));
  }
  ir_replace_uses(m, block, map);
  arena_destroy(a);
}
