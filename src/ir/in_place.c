#include "ir/in_place.h"

#include "ir/attrs.h"
#include "ir/calls.h"

ir_in_place ir_in_place_of(arena *scratch, const ir_module *m) {
  return (ir_in_place){scratch, (ir_module *)m, ARENA_ARRAY(scratch, ir_users *, m->blocks.count)};
}

static const ir_users *users_of(ir_in_place *k, ir_block block) {
  if (!k->users[block]) {
    k->users[block] = ARENA_NEW(k->scratch, ir_users);
    *k->users[block] = ir_users_of_block(k->scratch, k->m, block);
  }
  return k->users[block];
}

/* Of an op whose result XLA may have in the operand's buffer, or not at all until it is asked for.
 */
static bool is_view(const ir_module *m, ir_op op) {
  switch (ir_kind_of(m, op)) {
    case IR_OP_BITCAST_CONVERT:
    case IR_OP_CALL:
    case IR_OP_CASE:
    case IR_OP_COMPOSITE:
    case IR_OP_CONSTANT:
    case IR_OP_IF:
    case IR_OP_IOTA:
    case IR_OP_OPTIMIZATION_BARRIER: return true;
    default: return ir_kind_flags(ir_kind_of(m, op)) & IR_FLAG_M;
  }
}

/* By value: how often the loop reads it, and what of its block the loop can't begin without. */
static uint32_t *needed_by(ir_in_place *k, ir_op loop) {
  const ir_module *m = k->m;
  ir_block block = ir_op_get(m, loop)->block;
  const ir_block_data *b = ir_block_get(m, block);
  uint32_t *needed = ARENA_ARRAY(k->scratch, uint32_t, m->values.count), at = b->ops.count;
  while (at > 0 && b->ops.at[at - 1] != loop) at--;
  CTX_CHECK(m->ctx, at > 0);
  ir_count_uses_of(m, loop, needed);
  ir_count_needed(m, block, at - 1, needed);
  return needed;
}

/* The loop is the last to read it, and waits for all others. */
static bool dies_in(ir_in_place *k, ir_op loop, ir_value v) {
  const ir_users *users = users_of(k, ir_op_get(k->m, loop)->block);
  ir_op user, last = IR_NONE;
  for (uint32_t i = 0; (user = ir_user_at(users, v, i)); i++) last = user;
  if (last != loop) return false;
  const uint32_t *needed = NULL;
  for (uint32_t i = 0; (user = ir_user_at(users, v, i)) != last; i++) {
    if (!needed) needed = needed_by(k, loop);
    if (!ir_has_uses(k->m, user, needed)) return false;
  }
  return true;
}

bool ir_is_cut_in_lines(const ir_module *m, ir_type type, int64_t dim) {
  return ir_element_count(m, type) > ir_type_get(m, type)->dims[dim];
}

static bool is_read_once(const ir_module *m, ir_op loop, ir_value v) {
  const ir_op_data *d = ir_op_get(m, loop);
  uint32_t times = 0;
  for (uint32_t i = 0; i < d->n_operands; i++) times += d->operands[i] == v;
  return times == 1;
}

static bool has_own_buffer(const ir_module *m, ir_op loop, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  return op && ir_op_get(m, op)->block == ir_op_get(m, loop)->block && !is_view(m, op);
}

bool ir_is_donated_to(const ir_module *m, ir_op loop, uint32_t j, ir_value v) {
  v = ir_that_waits(m, v);
  const ir_value_data *d = ir_value_get(m, v);
  ir_op main = ir_main_function(m);
  ir_block body = main ? ir_body(m, main) : IR_NONE;
  if (d->op || !body || ir_value_block(m, v) != body || ir_op_get(m, loop)->block != body)
    return false;
  ir_attr place = ir_argument_attr(m, main, d->index, "tf.aliasing_output"),
          donor = ir_argument_attr(m, main, d->index, "jax.buffer_donor");
  bool is_placed = place && ir_attr_get(m, place)->kind == IR_ATTR_INT,
       is_given = donor && ir_attr_get(m, donor)->boolean;
  ir_op end = ir_terminator(m, body);
  for (uint32_t i = 0; i < ir_op_get(m, end)->n_operands; i++)
    if (ir_operand(m, end, i) == ir_result(m, loop, j) &&
        (is_given || (is_placed && ir_attr_get(m, place)->integer == i)))
      return true;
  return false;
}

/* What a while carries, but for what it waits for, in whose place XLA has what the while carries
 * next: this result. */
static bool is_carried_to(const ir_module *m, ir_op loop, uint32_t j, ir_value v) {
  v = ir_that_waits(m, v);
  const ir_value_data *d = ir_value_get(m, v);
  ir_op around = ir_op_around(m, loop);
  ir_block block = ir_op_get(m, loop)->block;
  if (d->op || !around || ir_kind_of(m, around) != IR_OP_WHILE) return false;
  if (ir_value_block(m, v) != block || ir_while_body(m, around) != block) return false;
  return ir_yielded(m, block, d->index) == ir_result(m, loop, j);
}

/* Nobody but the loop and who reads its result has what the input's buffer is for. */
static bool may_be_overwritten(const ir_module *m, ir_op loop, uint32_t j, ir_value v,
                               int64_t dim) {
  if (is_carried_to(m, loop, j, v)) return true;
  return ir_is_cut_in_lines(m, ir_type_of(m, v), dim) &&
         (has_own_buffer(m, loop, v) || ir_is_donated_to(m, loop, j, v));
}

static bool is_taken(const int32_t *over, int32_t n, int32_t input) {
  bool taken = false;
  for (int32_t j = 0; j < n; j++) taken |= over[j] == input;
  return taken;
}

void ir_loop_in_place(ir_in_place *k, ir_op loop, int32_t *out_over) {
  ir_module *m = k->m;
  ir_loop l = ir_loop_get(m, loop);
  for (uint32_t j = 0; j < l.n_results; j++) {
    out_over[j] = IR_NOT_IN_PLACE;
    ir_type type = ir_type_of(m, ir_result(m, loop, j));
    for (uint32_t i = 0; l.out_dims[j] >= 0 && i < l.n_inputs && out_over[j] < 0; i++) {
      ir_value v = ir_operand(m, loop, i);
      if (l.in_dims[i] != l.out_dims[j] || l.in_units[i] != l.out_units[j]) continue;
      if (ir_type_of(m, v) != type) continue;
      if (!is_read_once(m, loop, v)) continue;
      if (!may_be_overwritten(m, loop, j, v, l.out_dims[j])) continue;
      if (is_taken(out_over, j, (int32_t)i) || !dies_in(k, loop, v)) continue;
      out_over[j] = (int32_t)i;
    }
  }
}
