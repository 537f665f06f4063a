/* 16-bit floats: read and stored as such, f32 in between.
 *
 * In: a loop's body. Out: the same body with a convert behind each argument of bf16 or f16 and in
 * front of each such result, and f32 where it had these. XLA on CPUs computes such ops in f32, too,
 * and rounds after a fusion or after each op, as it likes (xla_allow_excess_precision); results
 * here are rounded once, sums are f32. Left alone, so that tiles don't cover the loop: conversions
 * to integers, counting, top-k and reductions of several operands in 16 bits, where it is the
 * rounding that decides.
 */
#include "tile/widen.h"

#include "ir/floats.h"
#include "tile/elementwise.h"

typedef struct widener {
  ir_module *m;
  ir_map *map;
} widener;

static bool is_narrow(const ir_module *m, ir_value v) {
  return tile_is_narrow(ir_type_at(m, v)->dtype);
}

static bool may_widen(const ir_module *m, ir_op op) {
  const ir_op_data *d = ir_op_get(m, op);
  bool reads = false, makes = false;
  for (uint32_t i = 0; i < d->n_operands; i++) reads |= is_narrow(m, d->operands[i]);
  for (uint32_t i = 0; i < d->n_results; i++) makes |= is_narrow(m, d->first_result + i);
  if (d->kind == IR_OP_CONVERT && reads)
    return ir_dtype_class_of(ir_type_at(m, d->first_result)->dtype) == IR_CLASS_FLOAT;
  if (d->kind == IR_OP_IOTA) return !makes;
  return !(reads && d->n_results > 1);
}

static ir_type widened(ir_module *m, ir_value v) {
  ir_type_data t = *ir_type_at(m, v);
  t.dtype = IR_F32;
  return ir_type_intern(m, &t);
}

static void widen_value(ir_module *m, ir_value v) {
  if (!is_narrow(m, v)) return;
  ir_type type = widened(m, v);
  ir_value_get(m, v)->type = type;
}

/* What is not a splat has no place in a tile. */
static void widen_constant(ir_module *m, ir_op op) {
  ir_value v = ir_result(m, op, 0);
  const ir_attr_data *d = ir_attr_get(m, ir_op_attr(m, op, "value"));
  uint16_t bits;
  if (!is_narrow(m, v) || !d->splat) return;
  memcpy(&bits, d->data, sizeof bits);
  float x = (float)ir_float_value(ir_type_at(m, v)->dtype, bits);
  ir_op_set_attr(m, op, "value", ir_attr_dense(m, widened(m, v), &x, true), true);
}

static void widen_op(const ir_module *whole, ir_op op, void *user) {
  ir_module *m = user;
  (void)whole;
  if (ir_kind_of(m, op) == IR_OP_CONSTANT) widen_constant(m, op);
  for (uint32_t i = 0; i < ir_op_get(m, op)->n_results; i++) widen_value(m, ir_result(m, op, i));
  for (uint32_t r = 0; r < ir_op_get(m, op)->n_regions; r++) {
    ir_block block = ir_op_get(m, op)->regions[r];
    for (uint32_t i = 0; block && i < ir_block_get(m, block)->args.count; i++)
      widen_value(m, ir_block_get(m, block)->args.at[i]);
    if (block) ir_walk(m, block, widen_op, m);
  }
}

static void widen_arguments(widener *w, ir_block body) {
  ir_builder b = {w->m, body, IR_NONE};
  for (uint32_t i = 0; i < ir_block_get(w->m, body)->args.count; i++) {
    ir_value v = ir_block_get(w->m, body)->args.at[i];
    if (is_narrow(w->m, v)) ir_map_set(w->map, v, ir_build_convert(&b, v, IR_F32));
  }
}

static void narrow_results(widener *w, ir_block body, ir_op loop, ir_op end) {
  ir_builder b = {w->m, body, IR_NONE};
  for (uint32_t j = 0; j < ir_op_get(w->m, end)->n_operands; j++) {
    if (!is_narrow(w->m, ir_result(w->m, loop, j))) continue;
    ir_dtype dtype = ir_type_at(w->m, ir_result(w->m, loop, j))->dtype;
    ir_value v = ir_build_convert(&b, ir_operand(w->m, end, j), dtype);
    ir_op_get(w->m, end)->operands[j] = v;
  }
}

/* A conversion that became one of f32 to f32. */
static bool is_nothing(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_CONVERT &&
         ir_type_of(m, ir_operand(m, op, 0)) == ir_type_of(m, ir_result(m, op, 0));
}

static void rewrite(widener *w, ir_block body, ir_op loop) {
  ir_module *m = w->m;
  ir_block_data old = *ir_block_get(m, body);
  memset(&ir_block_get(m, body)->ops, 0, sizeof old.ops);
  widen_arguments(w, body);
  for (uint32_t i = 0; i < old.ops.count; i++) {
    ir_op op = old.ops.at[i];
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_operands; k++)
      ir_op_get(m, op)->operands[k] = ir_map_get(w->map, ir_operand(m, op, k));
    widen_op(m, op, m);
    if (i + 1 == old.ops.count) narrow_results(w, body, loop, op);
    if (is_nothing(m, op)) ir_map_set(w->map, ir_result(m, op, 0), ir_operand(m, op, 0));
    else ir_block_append(m, body, op);
  }
}

void tile_widen(ir_module *m, ir_op loop) {
  ir_block body = ir_op_get(m, loop)->regions[0];
  const ir_block_data *b = ir_block_get(m, body);
  bool any = false;
  for (uint32_t i = 0; i < b->args.count; i++) any |= is_narrow(m, b->args.at[i]);
  for (uint32_t i = 0; i + 1 < b->ops.count; i++) {
    if (!may_widen(m, b->ops.at[i])) return;
    any |= is_narrow(m, ir_result(m, b->ops.at[i], 0));
  }
  if (!any) return;
  arena *a = arena_create(m->ctx);
  widener w = {m, ir_map_new(a, m)};
  rewrite(&w, body, loop);
  arena_destroy(a);
}
