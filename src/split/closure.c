#include "split/closure.h"

#include "split/halo.h"
#include "split/instances.h"
#include "split/state.h"

static bool same_factor(const split_region *r, const split_member *a, const split_factor *f) {
  const ir_op_data *d = ir_op_get(r->m, a->op);
  if (a->factor.role != f->role) return false;
  for (uint32_t i = 0; i < d->n_operands; i++)
    if (!split_pos_equal(a->factor.operands[i], f->operands[i])) return false;
  for (uint32_t i = 0; i < d->n_results; i++)
    if (!split_pos_equal(a->factor.results[i], f->results[i])) return false;
  return true;
}

static bool is_member(const split_region *r, ir_op op, const split_factor *f) {
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k))
    if (same_factor(r, k, f)) return true;
  return false;
}

/* Who reads a state that the loop may write over and makes what is next of another one: in a loop
 * of its own it would keep the state as it was. */
static void visit_state(split_region *r, ir_value next, split_pos written) {
  ir_value state = r->goal.carries_rows && r->goal.no_kernels ? r->state->carried[next] : IR_NONE;
  if (!state || !split_is_large(r, next) || written.dim < 0) return;
  split_visit(r, state, split_core(written));
  r->has_states = true;
}

static void visit_states(split_region *r, ir_op op, const split_factor *f) {
  split_pos written;
  for (ir_value v, j = 0; (v = ir_result_at(r->m, op, j)); j++) {
    if (split_halo_updates(r->m, r->state->carried[v], op, f, &written)) visit_state(r, v, written);
    else visit_state(r, v, f->results[j]);
  }
}

static void add_member(split_region *r, ir_op op, const split_factor *f) {
  if (is_member(r, op, f)) return;
  r->overlaps |= f->stencil;
  VEC_PUSH(r->scratch, &r->members,
           (split_member){.op = op, .factor = *f, .stage = -1, .next = r->member_of[op]});
  r->member_of[op] = r->members.count;
  const ir_op_data d = *ir_op_get(r->m, op);
  for (uint32_t i = 0; i < d.n_operands; i++)
    if (f->operands[i].dim >= 0 && split_is_large(r, d.operands[i]) &&
        ir_is_made_in(r->m, d.operands[i], r->block))
      split_visit(r, d.operands[i], f->operands[i]);
  for (uint32_t i = 0; i < d.n_results; i++)
    if (f->results[i].dim >= 0 && split_is_large(r, d.first_result + i))
      split_visit(r, d.first_result + i, f->results[i]);
  visit_states(r, op, f);
}

/* A member reads the value along the same dimension, if at other indices: it asks for them itself.
 */
static bool is_read_shifted(const split_region *r, ir_op user, uint32_t operand, split_pos pos) {
  for (uint32_t i = r->member_of[user]; i && r->may_shift; i = r->members.at[i - 1].next) {
    split_pos at = r->members.at[i - 1].factor.operands[operand];
    if (at.dim == pos.dim && at.unit == pos.unit) return true;
  }
  return false;
}

/* What windows have beside their slices is for those that asked for it. */
static void visit_user(split_region *r, ir_op user, ir_value v, split_pos at) {
  split_pos pos = split_core(at);
  for (uint32_t i = 0; i < ir_op_get(r->m, user)->n_operands; i++) {
    split_factor f;
    if (ir_operand(r->m, user, i) != v || is_read_shifted(r, user, i, pos)) continue;
    if (split_ask(r, user, false, i, pos, &f)) add_member(r, user, &f);
  }
}

/* Of all that the while carries next and makes of the state, the same rows: false, if these are
 * known already. */
static bool visit_next(split_region *r, const split_instance *state) {
  bool *reached = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  uint32_t before = r->instances.count;
  reached[state->value] = true;
  for (ir_op op, i = 0; (op = ir_op_at(r->m, r->block, i)); i++) {
    if (!split_goes_on(r, op) || !ir_reads_any(r->m, op, reached)) continue;
    for (ir_value v, j = 0; (v = ir_result_at(r->m, op, j)); j++) {
      split_factor f;
      reached[v] = true;
      bool is_next = r->state->carried[v] && ir_type_of(r->m, v) == ir_type_of(r->m, state->value);
      if (is_next && split_ask(r, op, true, j, state->pos, &f) && f.role == SPLIT_PARALLEL)
        split_visit(r, v, state->pos);
    }
  }
  return r->instances.count > before;
}

/* Users are followed from a value's first position only: a second one (K + K^T) is made for the
 * member that asked, not for everyone. Of a mask that anybody can make none is. */
static void close_over(split_region *r, uint32_t index) {
  split_instance instance = r->instances.at[index];
  if (instance.traced) add_member(r, ir_value_get(r->m, instance.value)->op, &instance.factor);
  if (instance.next || split_is_for_all(r, instance.value)) return;
  bool is_state = !ir_value_get(r->m, instance.value)->op;
  if (is_state && visit_next(r, &instance)) {
    split_visit_again(r, index); /* its readers, of which the members ask for what they need */
    return;
  }
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, instance.value, i)); i++)
    if (!is_state || split_goes_on(r, user)) visit_user(r, user, instance.value, instance.pos);
}

static void close_over_pending(split_region *r) {
  while (r->pending.count && !r->failed) close_over(r, split_next_pending(r));
}

bool split_is_partial(const split_region *r, const split_member *member) {
  for (uint32_t j = 0; j < ir_op_get(r->m, member->op)->n_results; j++)
    if (member->factor.results[j].dim >= 0 && member->factor.results[j].more < 0) return true;
  return false;
}

bool split_has_whole_member(const split_region *r, ir_op op) {
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k))
    if (!split_is_partial(r, k)) return true;
  return false;
}

/* The op on its whole slices, if somebody outside reads one of its results. */
static void add_whole(split_region *r, ir_op op, const split_factor *partial) {
  const ir_op_data d = *ir_op_get(r->m, op);
  split_factor f;
  for (uint32_t j = 0; j < d.n_results; j++) {
    split_pos pos = partial->results[j];
    if (pos.dim < 0 || !split_has_users_outside(r, d.first_result + j)) continue;
    if (split_ask(r, op, true, j, split_core(pos), &f) && f.role == SPLIT_PARALLEL)
      add_member(r, op, &f);
    return;
  }
}

/* What a stride passes over is not read: a window may end before its slice does. Slices that are
 * put out one behind the other have all elements. */
static void add_whole_ones(split_region *r) {
  for (uint32_t i = 0; i < r->members.count && !r->failed; i++) {
    split_member member = r->members.at[i];
    if (!split_is_partial(r, &member) || split_has_whole_member(r, member.op)) continue;
    add_whole(r, member.op, &member.factor);
    close_over_pending(r);
  }
}

void split_close(split_region *r) {
  split_visit(r, r->seed, r->seed_pos);
  close_over_pending(r);
  add_whole_ones(r);
  r->is_closed = true;
  if (r->members.count == 0) r->failed = true;
}
