/* unchanged: what a while only moves of what it does not change is moved before it.
 *
 *   while(i, s, x) { i + 1, f(s, x[:100]), x }
 *      =   y = x[:100];  while(i, s, x, y) { i + 1, f(s, y), x, y }
 *
 * A while is cut along what its trips keep apart, and a part of a dimension is at another place of
 * the whole: as an operand of the while it is a dimension like others. A step of a scan has such
 * slices where its function reads what is outside of it.
 *
 * Requires: a verified module. Breaks: nothing; carries that nobody reads any more stay for dce.
 * Exact. Left alone: whiles with attributes, what a region reads without carrying it, and parts
 * that are more than the whole together. Cost: values for each while that has any. */
#include "ir/maps.h"
#include "pass/build.h"
#include "pass/pass.h"

typedef struct moves {
  ir_values inside, outside; /* what the moves make in the body, in order, and what stands for it */
} moves;

/* What stands elsewhere in its result: why the move can't be left to the slices. */
static bool shifts(ir_kind kind) { return kind == IR_OP_SLICE || kind == IR_OP_REVERSE; }

/* Of a part: what is moved again may stand between. */
static bool keeps_size(ir_module *m, ir_op op) {
  int32_t to[IR_MAX_RANK];
  return ir_moved_dims(m, op, to) &&
         ir_elements(m, ir_operand(m, op, 0)) == ir_elements(m, ir_result(m, op, 0));
}

static bool is_unchanged_argument(const ir_module *m, ir_block body, ir_value v) {
  const ir_value_data *d = ir_value_get(m, v);
  return !d->op && d->block == body && ir_is_handed_on(m, body, d->index);
}

static int64_t *bytes_of_arguments(arena *a, const ir_module *m, ir_block body) {
  int64_t *bytes = ARENA_ARRAY(a, int64_t, ir_block_get(m, body)->args.count);
  for (ir_value v, i = 0; (v = ir_argument_at(m, body, i)); i++) bytes[i] = ir_value_bytes(m, v);
  return bytes;
}

static bool is_of_unchanged(const ir_module *m, ir_block body, ir_op op) {
  return shifts(ir_kind_of(m, op)) && is_unchanged_argument(m, body, ir_operand(m, op, 0));
}

/* Parts are there beside the whole. */
static bool is_worth_it(arena *a, const ir_module *m, ir_block body) {
  int64_t *left = NULL;
  for (ir_op op, i = 0; (op = ir_op_at(m, body, i)); i++) {
    if (!is_of_unchanged(m, body, op)) continue;
    ir_value x = ir_operand(m, op, 0);
    uint32_t k = ir_value_get(m, x)->index;
    if (!left) left = bytes_of_arguments(a, m, body);
    left[k] -= ir_value_bytes(m, ir_result(m, op, 0));
    if (left[k] < 0) return false;
  }
  return left;
}

/* Every trip reads the same. */
static bool is_move(ir_module *m, ir_op op, const ir_map *before) {
  if (!pass_is_static(m, op) || ir_op_get(m, op)->n_operands != 1) return false;
  ir_value v = ir_operand(m, op, 0);
  return ir_map_has(before, v) &&
         (shifts(ir_kind_of(m, op)) || (ir_value_get(m, v)->op && keeps_size(m, op)));
}

/* Makes them where the while stands. */
static moves take_moves(pass_rewrite *r, ir_op loop) {
  ir_module *m = r->m;
  ir_block body = ir_while_body(m, loop);
  moves found = {0};
  ir_map *before = ir_map_new(r->p->scratch, m); /* what the while does not change, and the moves */
  for (ir_value v, i = 0; (v = ir_operand_at(m, loop, i)); i++)
    if (ir_is_handed_on(m, body, i)) ir_map_set(before, ir_argument(m, body, i), v);
  for (ir_op op, i = 0; (op = ir_op_at(m, body, i)); i++) {
    if (!is_move(m, op, before)) continue;
    ir_op copy = ir_copy_op(m, r->b.block, op, before);
    VEC_PUSH(r->p->scratch, &found.inside, ir_result(m, op, 0));
    VEC_PUSH(r->p->scratch, &found.outside, ir_result(m, copy, 0));
  }
  return found;
}

static bool replace(pass_rewrite *r, ir_op op) {
  ir_module *m = r->m;
  if (ir_kind_of(m, op) != IR_OP_WHILE || ir_op_get(m, op)->n_attrs) return false;
  ir_block body = ir_while_body(m, op);
  if (!is_worth_it(r->p->scratch, m, body)) return false;
  moves taken = take_moves(r, op);
  uint32_t n = ir_op_get(m, op)->n_operands;
  ir_build_while_with(&r->b, op, IR_NO_CARRY, taken.outside.at, taken.outside.count, r->map);
  for (uint32_t k = 0; k < taken.inside.count; k++)
    ir_map_set(r->map, taken.inside.at[k], ir_argument(m, body, n + k));
  ir_replace_uses(m, body, r->map);
  return true;
}

const pass pass_unchanged = {.name = "unchanged", .replace = replace};
