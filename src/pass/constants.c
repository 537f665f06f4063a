/* constants: arith.constant, chlo.constant, chlo.constant_like -> stablehlo.constant.
 *
 * Requires: a verified module. Breaks: nothing. Exact. constant_like(x) has its value everywhere,
 * in x's shape. Left alone: constants that are no tensors (`index`, plain numbers), values of
 * another shape or element type than the result's, dynamic shapes, floats below 32 bits in
 * constant_like.
 * Source: MLIR, arith dialect; CHLO.
 */
#include "pass/build.h"

static bool is_constant(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  const ir_attr_data *value = ir_op_attr_of(m, op, "value", IR_ATTR_DENSE);
  return (kind == IR_OP_ARITH_CONSTANT || kind == IR_OP_CHLO_CONSTANT) && value &&
         ir_op_get(m, op)->n_results == 1 && !ir_op_get(m, op)->n_operands &&
         value->type == ir_type_of(m, ir_result(m, op, 0));
}

/* A constant of these elements; IR_NONE: none that we build. */
static ir_value build_splat(ir_builder *b, ir_type type, const ir_attr_data *value) {
  ir_dtype dtype = ir_type_get(b->m, type)->dtype;
  if (value->kind == IR_ATTR_INT && ir_is_integer(dtype))
    return ir_build_splat_int(b, type, value->integer);
  if (value->kind == IR_ATTR_FLOAT && ir_is_real(dtype))
    return ir_build_splat_real(b, type, value->real);
  return IR_NONE;
}

/* Value and result have the same element type. */
static bool is_constant_like(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  ir_attr value = ir_op_attr(m, op, "value");
  if (d->kind != IR_OP_CHLO_CONSTANT_LIKE || d->n_operands != 1 || d->n_results != 1 || !value ||
      !pass_is_static(m, op))
    return false;
  const ir_type_data *x = ir_type_at(m, d->operands[0]), *y = ir_type_at(m, d->first_result);
  ir_type type = ir_attr_get(m, value)->type;
  return type && ir_type_get(m, type)->dtype == y->dtype && ir_same_dims(x, y);
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  if (is_constant(m, op)) {
    ir_op_get(m, op)->kind = IR_OP_CONSTANT;
    f->p->changed = true;
    return false;
  }
  if (!is_constant_like(m, op)) return false;
  ir_value x = ir_result(m, op, 0);
  ir_value splat = build_splat(&f->b, ir_type_of(m, x), ir_attr_get(m, ir_op_attr(m, op, "value")));
  return pass_stand_in(m, f->map, op, splat);
}

const pass pass_constants = {"constants", .replace = replace};
