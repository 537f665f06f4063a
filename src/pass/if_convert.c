/* if-convert: all branches of a case or an if are made, and the one that was asked for is selected.
 *
 *   while(x) { x = case(i, {f(x)}, {g(x)}) }   is   while(x) { x = select(i == 0, f(x), g(x)) }
 *
 * A select is made in slices as everything elementwise is; a case is not, so that what it hands to
 * the next trip stays whole. Outside of whiles, readers of its results may move into the branches
 * instead (split/branches.h), which leaves the other branches undone; of a chain of branches they
 * can't, as the text would double with each.
 *
 * Requires: a verified module. Breaks: nothing. Exact: what the other branches come to, NaN or not,
 * is not looked at. Left alone: branches with effects, calls of what is not linear algebra, whiles
 * whose trips are not known (one that ends in its own branch may not end elsewhere); results that
 * are all small; under a threshold, which takes what comes first, what is outside of whiles.
 * Cost: all branches are computed.
 * Source: if-conversion, Allen, Kennedy, Porterfield & Warren 1983.
 */
#include "ir/attrs.h"
#include "ir/lapack.h"
#include "pass/build.h"

static bool is_unbounded(const ir_module *m, ir_op op) {
  ir_kind kind = ir_kind_of(m, op);
  if (kind == IR_OP_WHILE) return ir_trips(m, op) < 0;
  if (kind == IR_OP_CUSTOM_CALL) return ir_lapack_find(ir_op_string(m, op, "call_target_name")) < 0;
  return kind == IR_OP_UNKNOWN;
}

static bool may_do_all(const pass_rewrite *f, ir_op op) {
  const ir_op_data *d = ir_op_get(f->m, op);
  if ((d->kind != IR_OP_CASE && d->kind != IR_OP_IF) || !d->n_regions) return false;
  bool is_compared = f->p->options->memory_limit_bytes; /* with the program as it came */
  return ir_largest_bytes(f->m, op) > f->small_bytes &&
         (is_compared || ir_is_within(f->m, d->block, IR_OP_WHILE)) && pass_is_static(f->m, op) &&
         !pass_has_foreign_attrs(f->m, op) && !ir_has_effects(f->m, op) &&
         !ir_any(ir_walk_op(f->m, op), is_unbounded);
}

/* The ops of a branch where the op stood; out_results: what it returns. */
static void unfold(pass_rewrite *f, ir_block block, ir_block branch, ir_value *out_results) {
  ir_module *m = f->m;
  ir_ops ops = ir_take_ops(m, branch);
  ir_op end = ops.at[ops.count - 1];
  for (uint32_t i = 0; i + 1 < ops.count; i++) ir_block_append(m, block, ops.at[i]);
  for (uint32_t i = 0; i < ir_op_get(m, end)->n_operands; i++)
    out_results[i] = ir_map_get(f->map, ir_operand(m, end, i));
}

/* Whether this branch is the one, of an if or of a case with another behind it. */
static ir_value is_asked_for(ir_builder *b, ir_op op, uint32_t branch) {
  ir_value index = ir_operand(b->m, op, 0);
  if (ir_kind_of(b->m, op) == IR_OP_IF) return index;
  return ir_build_compare(b, "EQ", index, ir_build_int_like(b, index, branch));
}

static ir_value select_by(ir_builder *b, ir_value is, ir_value on_true, ir_value on_false) {
  if (on_true == on_false) return on_true;
  ir_type flags = ir_tensor_with_dtype(b->m, ir_type_of(b->m, on_true), IR_I1);
  if (ir_type_get(b->m, flags)->rank) is = ir_build_broadcast(b, is, flags, NULL);
  return ir_build_select(b, is, on_true, on_false);
}

/* An index out of range is the last branch's. */
static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  if (!may_do_all(f, op)) return false;
  const ir_op_data d = *ir_op_get(m, op);
  ir_value *of = ARENA_ARRAY(f->p->scratch, ir_value, (size_t)d.n_regions * (d.n_results + 1));
  for (uint32_t r = 0; r < d.n_regions; r++)
    unfold(f, f->b.block, d.regions[r], of + (size_t)r * d.n_results);
  ir_value *result = of + (size_t)(d.n_regions - 1) * d.n_results;
  for (uint32_t r = d.n_regions - 1; r-- > 0;) {
    ir_value is = is_asked_for(&f->b, op, r);
    for (uint32_t i = 0; i < d.n_results; i++)
      result[i] = select_by(&f->b, is, of[(size_t)r * d.n_results + i], result[i]);
  }
  for (uint32_t i = 0; i < d.n_results; i++) ir_map_set(f->map, ir_result(m, op, i), result[i]);
  return true;
}

const pass pass_if_convert = {"if-convert", .replace = replace};
