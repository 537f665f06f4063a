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

/* The ops of a branch where the op stood; out_results: what it returns, `stride` apart. */
static void unfold(pass_rewrite *f, ir_block block, ir_block branch, ir_value *out_results,
                   size_t stride) {
  ir_module *m = f->m;
  ir_ops ops = ir_take_ops(m, branch);
  ir_op end = ops.at[ops.count - 1];
  for (uint32_t i = 0; i + 1 < ops.count; i++) ir_block_append(m, block, ops.at[i]);
  for (uint32_t i = 0; i < ir_op_get(m, end)->n_operands; i++)
    out_results[i * stride] = ir_map_get(f->map, ir_operand(m, end, i));
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  if (!may_do_all(f, op)) return false;
  const ir_op_data d = *ir_op_get(m, op);
  size_t n = d.n_regions;
  ir_value *of = ARENA_ARRAY(f->p->scratch, ir_value, n * (d.n_results + 1));
  for (uint32_t r = 0; r < n; r++) unfold(f, f->b.block, d.regions[r], of + r, n);
  for (uint32_t i = 0; i < d.n_results; i++)
    ir_map_set(f->map, ir_result(m, op, i), pass_build_choice(&f->b, op, of + i * n));
  return true;
}

const pass pass_if_convert = {"if-convert", .replace = replace};
