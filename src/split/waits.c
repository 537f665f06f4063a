#include "split/waits.h"

#include "ir/attrs.h"
#include "ir/calls.h"
#include "ir/in_place.h"
#include "split/reorder.h"

enum { MOST_WAITS = 64 }; /* in one block: a bound of time */

static bool is_next(const ir_module *m, ir_block block, ir_value state, ir_value result) {
  const ir_value_data *d = ir_value_get(m, state);
  return !d->op && ir_value_block(m, state) == block &&
         split_is_updated(m, ir_yielded(m, block, d->index), result);
}

/* Result j of the loop is what is next of the state of a while, or of a donated argument. */
static bool is_over(const split_region *r, ir_op loop, uint32_t j, ir_value state) {
  const ir_module *m = r->m;
  ir_op around = ir_block_get(m, r->block)->parent;
  if (!around || ir_kind_of(m, around) != IR_OP_WHILE) return ir_is_donated_to(m, loop, j, state);
  return r->goal.carries_rows && ir_while_body(m, around) == r->block &&
         is_next(m, r->block, state, ir_result(m, loop, j));
}

/* The op has to come after the other one. */
static bool depends_on(arena *scratch, const ir_module *m, ir_op op, ir_op other) {
  ir_block block = ir_op_get(m, op)->block;
  uint32_t *needed = ARENA_ARRAY(scratch, uint32_t, m->values.count), at = 0;
  while (ir_block_get(m, block)->ops.at[at] != op) at++;
  ir_count_uses_of(m, op, needed);
  ir_count_needed(m, block, at, needed);
  return ir_has_uses(m, other, needed);
}

/* What to wait for: the least that the reader makes. IR_NONE: it is too large to be held for it. */
static ir_value least_result(const split_region *r, ir_op reader) {
  const ir_module *m = r->m;
  ir_value least = IR_NONE;
  for (ir_value v, j = 0; (v = ir_result_at(m, reader, j)); j++)
    if (ir_type_at(m, v)->kind == IR_TYPE_TENSOR &&
        (!least || ir_value_bytes(m, v) < ir_value_bytes(m, least)))
      least = v;
  bool is_there = ir_kind_of(m, reader) == IR_OP_LOOP;
  return least && (is_there || ir_value_bytes(m, least) <= r->goal.threshold_bytes) ? least
                                                                                    : IR_NONE;
}

/* Of all who read the state, themselves or in a branch, but the loop, and what hands it on to the
 * loop; false: one of them comes after the loop, or is nothing to wait for, and XLA copies the
 * state. */
static bool find_readers(split_region *r, ir_op loop, ir_value state, ir_values *out) {
  const ir_module *m = r->m;
  for (ir_op op, i = 0; (op = ir_op_at(m, r->block, i)); i++) {
    if (op == loop || !ir_reads(m, op, state) || ir_that_waits(m, ir_result_at(m, op, 0)) == state)
      continue;
    ir_value result = least_result(r, op);
    if (!result || depends_on(r->scratch, m, op, loop)) return false;
    VEC_PUSH(r->scratch, out, result);
  }
  return true;
}

/* What has the state's buffer first, the loop or what hands it on to that, comes after all. */
static bool comes_last(split_region *r, ir_op first, const ir_values *all) {
  bool does = true;
  for (uint32_t i = 0; does && i < all->count; i++)
    does = depends_on(r->scratch, r->m, first, ir_value_get(r->m, all->at[i])->op);
  return does;
}

/* For all users of a value: XLA would make a cheap one anew for each, out of the state. */
static ir_value kept_for_all(split_region *r, ir_builder *b, ir_value v) {
  ir_value kept = ir_build_kept(b, v);
  for (ir_walk w = ir_walk_block(r->m, r->block); ir_next(&w);) {
    ir_op_data *d = ir_op_get(r->m, w.op);
    for (uint32_t i = 0; i < d->n_operands; i++)
      if (d->operands[i] == v) d->operands[i] = kept;
  }
  return kept;
}

/* The state, once all was made. One call has it: with several XLA would copy for the first. */
static ir_value after_all(split_region *r, ir_builder *b, ir_value state, const ir_values *all) {
  ir_value last = IR_NONE;
  for (uint32_t i = 0; i < all->count; i++) {
    ir_value v = all->at[i];
    if (ir_kind_of(r->m, ir_value_get(r->m, v)->op) != IR_OP_LOOP) v = kept_for_all(r, b, v);
    last = last ? ir_build_after(b, v, last) : v;
  }
  return ir_build_after(b, state, last);
}

/* Operand k of the loop is to wait, and does not. */
static bool has_to_wait(split_region *r, ir_op loop, uint32_t k, ir_values *out) {
  const ir_module *m = r->m;
  ir_value begun = ir_operand(m, loop, k), state = ir_that_waits(m, begun);
  if (!find_readers(r, loop, state, out)) return false;
  return !comes_last(r, begun == state ? loop : ir_value_get(m, begun)->op, out);
}

/* The operand that result j lies over, if it is next of a state: what the loop begins with, or what
 * it reads slice by slice where it writes; false: none is. */
static bool find_begun(const split_region *r, ir_op loop, const ir_loop *l, uint32_t j,
                       uint32_t *out_k) {
  const ir_module *m = r->m;
  uint32_t first = 0, end = l->n_inputs;
  for (uint32_t i = 0; i <= j && l->out_dims[j] < 0; i++) end += l->out_dims[i] < 0;
  if (l->out_dims[j] < 0) first = end - 1;
  for (*out_k = first; *out_k < end; ++*out_k) {
    bool is_there = l->out_dims[j] < 0 || l->in_dims[*out_k] == l->out_dims[j];
    ir_value state = ir_that_waits(m, ir_operand(m, loop, *out_k));
    if (is_there && is_over(r, loop, j, state)) return true;
  }
  return false;
}

/* One loop is made to wait; false: all do that should. */
static bool wait_once(split_region *r) {
  ir_module *m = r->m;
  for (ir_op op, i = 0; (op = ir_op_at(m, r->block, i)); i++) {
    if (ir_kind_of(m, op) != IR_OP_LOOP) continue;
    ir_loop l = ir_loop_get(m, op);
    for (uint32_t k, j = 0; j < ir_op_get(m, op)->n_results; j++) {
      ir_values all = {0};
      if (!find_begun(r, op, &l, j, &k) || !has_to_wait(r, op, k, &all)) continue;
      ir_builder calls = {m, ir_block_new(m), ir_op_get(m, op)->location};
      ir_value begun = after_all(r, &calls, ir_that_waits(m, ir_operand(m, op, k)), &all);
      ir_op_get(m, op)->operands[k] = begun;
      split_reorder(r->scratch, m, r->block, calls.block, ir_map_new(r->scratch, m));
      return true;
    }
  }
  return false;
}

void split_wait_for_readers(split_region *r) {
  for (int32_t i = 0; r->goal.may_call && i < MOST_WAITS && wait_once(r); i++) continue;
}
