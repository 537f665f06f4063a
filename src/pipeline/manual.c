#include "pipeline/manual.h"

/* ---- axes ---- */
uint32_t manual_axes(const division *d, ir_op op) {
  const char *text = ir_sharding_text(d->m, ir_op_attr(d->m, op, "manual_axes"));
  ir_axes axes;
  bool is_read = text && ir_axes_named(&d->mesh, text, text + strlen(text), &axes);
  return is_read ? division_mask(d, &axes) : 0;
}

uint32_t manual_axes_around(const division *d, ir_op op) {
  uint32_t axes = 0;
  for (ir_block block = ir_op_get(d->m, op)->block; block;) {
    ir_op parent = ir_block_get(d->m, block)->parent;
    if (!parent) break;
    if (ir_kind_of(d->m, parent) == IR_OP_SDY_MANUAL_COMPUTATION) axes |= manual_axes(d, parent);
    block = ir_op_get(d->m, parent)->block;
  }
  return axes;
}

bool manual_is_whole(const division *d, uint32_t axes) {
  for (int32_t i = 0; i < d->mesh.n; i++)
    if (d->mesh.at[i].size > 1 && !(axes >> i & 1)) return false;
  return axes != 0;
}

/* ---- what enters and leaves ---- */
static const char *list_of(bool of_result) { return of_result ? "out_shardings" : "in_shardings"; }

const char *manual_sharding(const division *d, ir_op op, bool of_result, uint32_t i) {
  return ir_sharding_of(d->m, op, list_of(of_result), i);
}

void manual_part(const division *d, ir_op op, const ir_axes *axes, ir_axes *out_own,
                 ir_axes *out_rest) {
  uint32_t mask = manual_axes(d, op);
  *out_own = *out_rest = (ir_axes){0};
  for (int32_t i = 0; i < axes->n; i++) {
    ir_axes one = {.n = 1, .at = {axes->at[i]}};
    ir_axes *to = division_mask(d, &one) & mask ? out_own : out_rest;
    to->at[to->n++] = axes->at[i];
  }
  CTX_CHECK(d->m->ctx, out_own->n + out_rest->n == axes->n);
}

int32_t manual_dim(const division *d, ir_op op, bool of_result, uint32_t i) {
  ir_value v = of_result ? ir_result(d->m, op, i) : ir_operand(d->m, op, i);
  return division_divided_dim(d, v, manual_sharding(d, op, of_result, i));
}

/* ---- bodies in their places ---- */
bool manual_are_divided(const ir_module *m, ir_block block) {
  for (ir_walk w = ir_walk_block((ir_module *)m, block); ir_next(&w);) {
    if (ir_kind_of(m, w.op) != IR_OP_SDY_MANUAL_COMPUTATION) continue;
    ir_block body = ir_body(m, w.op);
    for (ir_value v, i = 0; (v = ir_operand_at(m, w.op, i)); i++)
      if (ir_type_of(m, v) != ir_type_of(m, ir_argument(m, body, i))) return false;
    for (ir_value v, i = 0; (v = ir_result_at(m, w.op, i)); i++)
      if (ir_type_of(m, v) != ir_type_of(m, ir_yielded(m, body, i))) return false;
  }
  return true;
}

static void put_ops(ir_module *m, ir_block to, const ir_op *ops, uint32_t n, ir_map *map);

/* Without its last op, whose operands stand for the results. */
static void put_body(ir_module *m, ir_block to, ir_op op, ir_map *map) {
  ir_block body = ir_body(m, op);
  for (ir_value v, i = 0; (v = ir_operand_at(m, op, i)); i++)
    ir_map_set(map, ir_argument(m, body, i), ir_map_get(map, v));
  ir_ops ops = ir_take_ops(m, body);
  CTX_CHECK(m->ctx, ops.count > 0);
  put_ops(m, to, ops.at, ops.count - 1, map);
  ir_op last = ops.at[ops.count - 1];
  CTX_CHECK(m->ctx, ir_op_get(m, last)->n_operands == ir_op_get(m, op)->n_results);
  ir_map_results(map, m, op, last);
}

static void put_ops(ir_module *m, ir_block to, const ir_op *ops, uint32_t n, ir_map *map) {
  for (uint32_t i = 0; i < n; i++) {
    if (ir_kind_of(m, ops[i]) == IR_OP_SDY_MANUAL_COMPUTATION) {
      put_body(m, to, ops[i], map);
      continue;
    }
    for (ir_block below, r = 0; (below = ir_next_block(m, ops[i], &r));) {
      ir_ops all = ir_take_ops(m, below);
      put_ops(m, below, all.at, all.count, map);
    }
    ir_block_append(m, to, ops[i]);
  }
}

void manual_inline_all(arena *a, ir_module *m, ir_block block) {
  ir_map *map = ir_map_new(a, m);
  ir_ops all = ir_take_ops(m, block);
  put_ops(m, block, all.at, all.count, map);
  ir_replace_uses(m, block, map);
}
