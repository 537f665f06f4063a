/* map: map(x, y, ...) { body of scalars } -> the body's ops on whole tensors.
 *
 * Requires: a verified module. Breaks: nothing. Identity: the result's element i is the body of
 * the operands' elements i, and an elementwise op of a tensor is the op of each element; scalars
 * that the body has for itself are broadcast. Exact.
 * Left alone: bodies with anything but elementwise ops and constants, dynamic shapes.
 * Source: StableHLO specification, map.
 */
#include "pass/build.h"

static bool is_scalar(const ir_module *m, ir_value v) {
  return ir_is_static_tensor(m, ir_type_of(m, v)) && !ir_type_at(m, v)->rank;
}

static bool is_elementwise(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  bool is = d->kind == IR_OP_CONSTANT || ir_is_elementwise(d->kind);
  is = is && d->n_results == 1 && !d->n_regions;
  for (uint32_t i = 0; is && i < d->n_operands; i++) is = is_scalar(m, d->operands[i]);
  return is && is_scalar(m, d->first_result);
}

static bool may_unfold(const ir_module *m, ir_op op) {
  if (ir_kind_of(m, op) != IR_OP_MAP || !pass_is_static(m, op)) return false;
  ir_block body = ir_body(m, op);
  for (ir_op inner, i = 0; (inner = ir_body_op_at(m, body, i)); i++)
    if (!is_elementwise(m, inner)) return false;
  ir_op end = ir_terminator(m, body);
  return ir_kind_of(m, end) == IR_OP_RETURN && is_scalar(m, ir_operand(m, end, 0));
}

/* The shape of the map with the elements of the scalar. */
static ir_type whole_type(ir_module *m, ir_type shape, ir_value scalar) {
  return ir_tensor_with_dtype(m, shape, ir_type_at(m, scalar)->dtype);
}

/* What stands for a scalar of the body, or for one from outside. */
static ir_value whole(pass_rewrite *f, ir_builder *b, ir_type shape, ir_value scalar) {
  scalar = ir_map_get(f->map, scalar);
  ir_type type = whole_type(f->m, shape, scalar);
  return ir_type_of(f->m, scalar) == type ? scalar : ir_build_broadcast(b, scalar, type, NULL);
}

static void unfold_op(pass_rewrite *f, ir_builder *b, ir_type shape, ir_op op) {
  ir_module *m = f->m;
  uint32_t n = ir_op_get(m, op)->n_operands;
  ir_value result = ir_result(m, op, 0), made;
  ir_value *operands = ARENA_ARRAY(m->arena, ir_value, n + 1);
  for (uint32_t i = 0; i < n; i++) operands[i] = whole(f, b, shape, ir_operand(m, op, i));
  ir_type type = n ? whole_type(m, shape, result) : ir_type_of(m, result);
  made = pass_build_like(b, op, operands, type);
  ir_map_set(f->map, result, whole(f, b, shape, made));
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  if (!may_unfold(m, op)) return false;
  ir_type shape = ir_type_of(m, ir_result(m, op, 0));
  ir_block body = ir_body(m, op);
  for (ir_value arg, i = 0; (arg = ir_argument_at(m, body, i)); i++)
    ir_map_set(f->map, arg, ir_operand(m, op, i));
  for (ir_op below, i = 0; (below = ir_body_op_at(m, body, i)); i++)
    unfold_op(f, &f->b, shape, below);
  ir_value out = whole(f, &f->b, shape, ir_yielded(m, body, 0));
  return pass_stand_in(m, f->map, op, out);
}

const pass pass_map = {"map", .replace = replace};
