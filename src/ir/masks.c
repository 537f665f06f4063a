#include "ir/masks.h"

#include "ir/attrs.h"
#include "ir/fold.h"

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
  return (ir_dtype_class_of(dtype) == IR_CLASS_FLOAT && ir_dtype_bytes(dtype) > 1 &&
          dtype != IR_BF16) ||
         ir_dtype_class_of(dtype) == IR_CLASS_COMPLEX;
}

static bool are_same(ir_ints a, ir_ints b) {
  return a.count == b.count &&
         (a.count == 0 || !memcmp(a.at, b.at, (size_t)a.count * sizeof *a.at));
}

/* Every dimension is a batch or summed over, the same ones on both sides. */
static bool is_elementwise_dot(arena *a, const ir_module *m, ir_op dot) {
  ir_dot_numbers n;
  const ir_type_data *lhs = ir_type_at(m, ir_operand(m, dot, 0)),
                     *rhs = ir_type_at(m, ir_operand(m, dot, 1));
  ir_dtype dtype = ir_type_at(m, ir_result(m, dot, 0))->dtype;
  return dtype != IR_F16 && lhs->dtype == dtype && rhs->dtype == dtype &&
         ir_dot_dims(a, m, dot, &n) && n.lhs_batch.count + n.lhs_contract.count == lhs->rank &&
         rhs->rank == lhs->rank && are_same(n.lhs_batch, n.rhs_batch) &&
         are_same(n.lhs_contract, n.rhs_contract);
}

bool ir_selects_by_masks(arena *scratch, const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind != IR_OP_MULTIPLY && kind != IR_OP_DOT_GENERAL) return false;
  if (!is_selected_dtype(ir_type_at(m, ir_result(m, op, 0))->dtype)) return false;
  return kind == IR_OP_MULTIPLY || is_elementwise_dot(scratch, m, op);
}

/* p, if the mask is convert(p) itself. */
static ir_value converted(const ir_module *m, ir_value mask) {
  ir_op op = ir_maker(m, mask, IR_OP_CONVERT);
  bool is_i1 = op && ir_type_at(m, ir_operand(m, op, 0))->dtype == IR_I1;
  return is_i1 ? ir_operand(m, op, 0) : IR_NONE;
}

/* By us: once is enough. */
static bool is_selected_by(ir_module *m, ir_value x, ir_value mask) {
  ir_op op = ir_maker(m, x, IR_OP_SELECT);
  if (!op || !ir_is_zero(m, ir_operand(m, op, 2))) return false;
  ir_value p = ir_operand(m, op, 0);
  ir_direction direction;
  ir_op compare = ir_comparison(m, p, &direction);
  bool is_other = compare && ir_operand(m, compare, 0) == mask && direction == IR_NE &&
                  ir_is_zero(m, ir_operand(m, compare, 1));
  return is_other || p == converted(m, mask);
}

static ir_value selected(ir_builder *b, ir_value x, ir_value mask) {
  ir_value p = converted(b->m, mask);
  if (!p) p = ir_build_compare(b, "NE", mask, ir_build_int_like(b, mask, 0));
  return ir_build_select(b, p, x, ir_build_int_like(b, x, 0));
}

static bool multiplies_mask(const ir_module *m, ir_op op, ir_mask_test *is_mask) {
  ir_kind kind = ir_kind_of(m, op);
  return (kind == IR_OP_MULTIPLY || kind == IR_OP_DOT_GENERAL) &&
         (is_mask(m, ir_operand(m, op, 0)) || is_mask(m, ir_operand(m, op, 1)));
}

/* Its result; IR_NONE: neither operand is a mask. */
static ir_value masked(ir_builder *b, arena *a, ir_op op, ir_mask_test *is_mask) {
  ir_module *m = b->m;
  if (!multiplies_mask(m, op, is_mask) || !ir_selects_by_masks(a, m, op)) return IR_NONE;
  for (uint32_t i = 0; i < 2; i++) {
    ir_value operands[] = {ir_operand(m, op, 0), ir_operand(m, op, 1)}, x = operands[1 - i];
    if (!is_mask(m, operands[i]) || is_selected_by(m, x, operands[i])) continue;
    b->location = ir_op_get(m, op)->location;
    operands[1 - i] = selected(b, x, operands[i]);
    if (ir_kind_of(m, op) == IR_OP_MULTIPLY) return operands[1 - i];
    ir_type type = ir_type_of(m, ir_result(m, op, 0));
    return ir_result(m, ir_build_again(b, op, operands, &type), 0);
  }
  return IR_NONE;
}

static bool any_multiplies(const ir_module *m, ir_block block, ir_mask_test *is_mask) {
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    if (multiplies_mask(m, op, is_mask)) return true;
  return false;
}

void ir_select_masked(ir_module *m, ir_block block, ir_mask_test *is_mask) {
  if (!any_multiplies(m, block, is_mask)) return;
  arena *a = arena_create(m->ctx);
  ir_map *map = ir_map_new(a, m);
  ir_builder b = {m, block, IR_NONE};
  bool changed = false;
  ir_ops old = ir_take_ops(m, block);
  for (uint32_t i = 0; i < old.count; i++) {
    ir_value made = masked(&b, a, old.at[i], is_mask);
    changed |= made != IR_NONE;
    if (made) ir_map_set(map, ir_result(m, old.at[i], 0), made);
    else ir_block_append(m, block, old.at[i]);
  }
  if (changed) ir_replace_uses(m, block, map);
  arena_destroy(a);
}
