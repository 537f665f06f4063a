/* through-case: a broadcast that ends a branch goes behind the branches.
 *
 *   case(i, {x}, {broadcast(f())})   is   select(i == 0, x, broadcast(case(i, {0}, {f()})))
 *
 * So end checks of what was computed: where one fails, a callback that raises stands for the
 * result, and `vmap` broadcasts what it would return. Branches with callbacks can't all be made
 * (if_convert.c), so that x stayed whole; a select is made in slices.
 *
 * Requires: a verified module. Breaks: nothing. Exact: the same branch runs, and what is not asked
 * for is not looked at. Left alone: results that a branch makes, or most of them, or that come from
 * outside in all branches. Cost: a select, which makes all of what XLA would hand on in place.
 */
#include "ir/attrs.h"
#include "ir/fold.h"
#include "pass/build.h"

enum { LEAST_SHARE = 16 }; /* a result is so many times as large as what it is broadcast from */

/* Of v, which this branch ends with, what is made inside of it and stays there: *out_inner, IR_NONE
 * if nothing is. False: too much of it would. */
static bool find_inner(const pass_rewrite *f, ir_block branch, ir_value v, ir_value *out_inner) {
  *out_inner = IR_NONE;
  if (!ir_is_made_in(f->m, v, branch) || ir_is_splat_constant(f->m, v)) return true;
  ir_op op = ir_maker(f->m, v, IR_OP_BROADCAST_IN_DIM);
  if (!op) return false;
  ir_value x = ir_operand(f->m, op, 0);
  if (ir_is_made_in(f->m, x, branch)) *out_inner = x;
  return ir_value_bytes(f->m, v) / LEAST_SHARE >= ir_value_bytes(f->m, x);
}

static ir_value end_of(const ir_module *m, ir_op op, uint32_t branch, uint32_t result) {
  return ir_operand(m, ir_terminator(m, ir_op_get(m, op)->regions[branch]), result);
}

static bool goes_behind(const pass_rewrite *f, ir_op op, uint32_t result) {
  const ir_op_data *d = ir_op_get(f->m, op);
  ir_value inner;
  bool is_made = false; /* in some branch; what is there before them is no broadcast */
  for (uint32_t r = 0; r < d->n_regions; r++) {
    ir_value v = end_of(f->m, op, r, result);
    if (!find_inner(f, d->regions[r], v, &inner)) return false;
    is_made |= ir_is_made_in(f->m, v, d->regions[r]);
  }
  return is_made;
}

/* What a branch is to end with. */
typedef struct ending {
  uint32_t result; /* of the op that was; and all branches end with it, or .. */
  uint32_t branch; /* .. this one with `inner`, the others with zeros */
  ir_value inner;  /* IR_NONE: all branches */
} ending;
typedef VEC(ending) endings;

static endings list_endings(const pass_rewrite *f, ir_op op, const bool *behind) {
  const ir_op_data *d = ir_op_get(f->m, op);
  endings list = {0};
  for (uint32_t i = 0; i < d->n_results; i++) {
    ending e = {.result = i};
    if (!behind[i]) VEC_PUSH(f->p->scratch, &list, e);
    for (; behind[i] && e.branch < d->n_regions; e.branch++)
      if (find_inner(f, d->regions[e.branch], end_of(f->m, op, e.branch, i), &e.inner) && e.inner)
        VEC_PUSH(f->p->scratch, &list, e);
  }
  return list;
}

static void end_branch(pass_rewrite *f, ir_op op, uint32_t branch, const endings *list) {
  ir_module *m = f->m;
  ir_block block = ir_op_get(m, op)->regions[branch];
  ir_op end = ir_terminator(m, block);
  ir_value *values = ARENA_ARRAY(f->p->scratch, ir_value, list->count + 1);
  ir_builder b = {m, block, ir_op_get(m, end)->location};
  ir_block_get(m, block)->ops.count--;
  for (uint32_t k = 0; k < list->count; k++) {
    const ending *e = &list->at[k];
    if (!e->inner) values[k] = ir_operand(m, end, e->result);
    else if (e->branch == branch) values[k] = e->inner;
    else values[k] = ir_build_zeros(&b, ir_type_of(m, e->inner));
  }
  ir_build_return(&b, ir_kind_of(m, end), values, list->count);
}

/* The op, whose branches end with these. */
static ir_op rebuild(pass_rewrite *f, ir_op op, const endings *list) {
  ir_module *m = f->m;
  const ir_op_data d = *ir_op_get(m, op);
  ir_type *types = ARENA_ARRAY(f->p->scratch, ir_type, list->count + 1);
  for (uint32_t k = 0; k < list->count; k++) {
    const ending *e = &list->at[k];
    types[k] = ir_type_of(m, e->inner ? e->inner : ir_result(m, op, e->result));
  }
  for (uint32_t r = 0; r < d.n_regions; r++) end_branch(f, op, r, list);
  ir_op_desc desc = ir_op_desc_of(m, op);
  desc.n_results = list->count;
  desc.result_types = types;
  ir_op made = ir_op_new(m, f->b.block, &desc);
  for (uint32_t r = 0; r < d.n_regions; r++) ir_region_set(m, made, r, d.regions[r]);
  return made;
}

/* v, which a branch ended with, behind the branches. */
static ir_value again_behind(pass_rewrite *f, ir_block branch, ir_value v) {
  if (!ir_is_made_in(f->m, v, branch)) return v;
  ir_copy_op(f->m, f->b.block, ir_value_get(f->m, v)->op, f->map);
  return ir_map_get(f->map, v);
}

static bool replace(pass_rewrite *f, ir_op op) {
  ir_module *m = f->m;
  const ir_op_data d = *ir_op_get(m, op);
  if ((d.kind != IR_OP_CASE && d.kind != IR_OP_IF) || !d.n_regions || !pass_is_static(m, op) ||
      pass_has_foreign_attrs(m, op))
    return false;
  bool *behind = ARENA_ARRAY(f->p->scratch, bool, d.n_results + 1), any = false;
  for (uint32_t i = 0; i < d.n_results; i++) any |= behind[i] = goes_behind(f, op, i);
  endings list = list_endings(f, op, behind);
  if (!any || (!list.count && ir_has_effects(m, op))) return false;
  ir_value *of = ARENA_ARRAY(f->p->scratch, ir_value, (size_t)d.n_results * d.n_regions);
  for (uint32_t i = 0; i < d.n_results; i++)
    for (uint32_t r = 0; r < d.n_regions; r++) of[i * d.n_regions + r] = end_of(m, op, r, i);
  ir_op made = list.count ? rebuild(f, op, &list) : IR_NONE;
  for (uint32_t k = 0; k < list.count; k++) {
    const ending *e = &list.at[k];
    ir_map_set(f->map, e->inner ? e->inner : ir_result(m, op, e->result), ir_result(m, made, k));
  }
  for (uint32_t i = 0; i < d.n_results; i++) {
    if (!behind[i]) continue;
    ir_value *each = of + (size_t)i * d.n_regions;
    for (uint32_t r = 0; r < d.n_regions; r++) each[r] = again_behind(f, d.regions[r], each[r]);
    ir_map_set(f->map, ir_result(m, op, i), pass_build_choice(&f->b, op, each));
  }
  return true;
}

const pass pass_through_case = {"through-case", .replace = replace};
