#include "split/linear.h"

#include "ir/fold.h"
#include "split/monoid.h"

static ir_dtype_class class_of(const ir_module *m, ir_value v) {
  return ir_dtype_class_of(ir_type_at(m, v)->dtype);
}

static bool is_float(ir_dtype_class c) { return c == IR_CLASS_FLOAT; }

/* A float that overflows where f32 does not: whether a sum does is known once it is complete. bf16
 * does not; its parts are f32, as XLA on CPUs has them between two ops (excess precision). */
static bool overflows_early(ir_dtype d) {
  return is_float(ir_dtype_class_of(d)) && ir_dtype_bytes(d) < 4 && d != IR_BF16;
}

static bool may_overflow_early(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  bool may = overflows_early(ir_type_at(m, d->first_result)->dtype);
  for (uint32_t i = 0; i < d->n_operands; i++)
    may = may || overflows_early(ir_type_at(m, d->operands[i])->dtype);
  return may;
}

/* From one float to another; from f64 to less, digits that parts of different signs need would go.
 */
static bool keeps_digits(const ir_module *m, ir_op op) {
  ir_dtype from = ir_type_at(m, ir_operand(m, op, 0))->dtype,
           to = ir_type_at(m, ir_result(m, op, 0))->dtype;
  return is_float(ir_dtype_class_of(from)) && is_float(ir_dtype_class_of(to)) &&
         (from != IR_F64 || to == IR_F64);
}

split_linearity split_linearity_of(const ir_module *m, ir_op op) {
  static const split_linearity none = {0}, first = {0, 1, false}, either = {0, 2, false},
                               first_two = {0, 2, true}, last_two = {1, 2, true};
  const ir_op_data *d = ir_op_get(m, op);
  if (d->n_results != 1 || d->n_operands == 0 || may_overflow_early(m, op)) return none;
  ir_dtype_class c = class_of(m, d->first_result);
  if (c == IR_CLASS_NONE || c == IR_CLASS_BOOL) return none;
  switch (ir_kind_of(m, op)) {
    case IR_OP_ADD:
    case IR_OP_SUBTRACT:
    case IR_OP_DYNAMIC_UPDATE_SLICE: return first_two;
    case IR_OP_CONCATENATE: return (split_linearity){0, d->n_operands, true};
    case IR_OP_SELECT: return last_two;
    case IR_OP_NEGATE:
    case IR_OP_RESHAPE:
    case IR_OP_TRANSPOSE:
    case IR_OP_BROADCAST_IN_DIM:
    case IR_OP_SLICE:
    case IR_OP_REVERSE:
    case IR_OP_DYNAMIC_SLICE: return first;
    case IR_OP_DIVIDE: return is_float(c) || c == IR_CLASS_COMPLEX ? first : none;
    case IR_OP_CONVERT: return keeps_digits(m, op) ? first : none;
    case IR_OP_PAD: return ir_is_zero(m, d->operands[1]) ? first : none;
    case IR_OP_REDUCE: return ir_adds_up(m, op) ? first : none;
    case IR_OP_MULTIPLY:
    case IR_OP_DOT_GENERAL: return either;
    default: return none;
  }
}

bool split_may_add_parts(const ir_module *m, ir_value v) {
  ir_dtype d = ir_type_at(m, v)->dtype;
  return !ir_is_float(d) || ir_dtype_bytes(d) >= 4;
}

/* ---- on parts ---- */
static bool is_carried_wide(const ir_module *m, ir_value v) {
  return ir_type_at(m, v)->dtype != split_sum_dtype(ir_type_at(m, v)->dtype);
}

static bool works_wide(const ir_module *m, ir_op op, const ir_value *operands) {
  bool wide = is_carried_wide(m, ir_result(m, op, 0));
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_operands; i++)
    wide |= is_carried_wide(m, ir_operand(m, op, i)) && !is_carried_wide(m, operands[i]);
  return wide;
}

ir_value split_build_linear(ir_builder *b, ir_op op, const ir_value *operands) {
  ir_module *m = b->m;
  const ir_op_data d = *ir_op_get(m, op);
  ir_type type = split_sum_type(m, op);
  if (!works_wide(m, op, operands)) return ir_result(m, ir_build_again(b, op, operands, &type), 0);
  ir_dtype dtype = ir_type_get(m, type)->dtype;
  if (d.kind == IR_OP_CONVERT) return ir_build_convert(b, operands[0], dtype);
  ir_value *wide = ARENA_ARRAY(m->arena, ir_value, d.n_operands);
  for (uint32_t i = 0; i < d.n_operands; i++)
    wide[i] = ir_build_convert(b, operands[i], split_sum_dtype(ir_type_at(m, operands[i])->dtype));
  ir_op made = ir_build_again(b, op, wide, &type);
  if (d.kind == IR_OP_REDUCE) ir_build_reducer(b, made, IR_OP_ADD, dtype);
  return ir_result(m, made, 0);
}
