#include "split/held.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "split/closure.h"
#include "split/kept.h"
#include "split/parts.h"
#include "split/repeats.h"
#include "split/sorts.h"
#include "split/spans.h"
#include "split/stages.h"
#include "split/state.h"

static bool member_needs_whole(split_region *r, ir_op user, ir_value v) {
  for (split_member *member = split_first_member(r, user); member;
       member = split_next_member(r, member)) {
    bool makes_all = member->is_idle || split_n_streams(member); /* that it reads, itself */
    if (makes_all && !split_is_cut_before(r, v, member->stage)) continue;
    for (uint32_t j = 0; j < ir_op_get(r->m, user)->n_operands; j++)
      if (ir_operand(r->m, user, j) == v &&
          ((member->factor.operands[j].dim < 0 && !r->is_passed_on[v]) ||
           !split_is_inside(r, v, member->factor.operands[j], member->stage)))
        return true;
  }
  return false;
}

static bool is_needed_outside(split_region *r, ir_value v) {
  if (split_is_for_all(r, v)) return false;
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++) {
    if (r->outside.is && r->outside.is[user] && r->outside.is_plain[v]) continue;
    if (!r->member_of[user] || split_uses_below(r, user, v) || member_needs_whole(r, user, v))
      return true;
  }
  return false;
}

static bool is_returned(const split_region *r, ir_value v) {
  ir_op end = ir_terminator(r->m, r->block);
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++)
    if (user == end) return true;
  return false;
}

static void hold(split_region *r, ir_value v) {
  int64_t bytes = ir_value_bytes(r->m, v);
  r->n_held++;
  r->held_bytes = saturated_sum(r->held_bytes, bytes);
}

bool split_is_only_cut(const split_region *r, ir_value v) {
  return r->is_cut && r->is_cut[v] && !r->is_held[v];
}

static bool is_read_by_others(const split_region *r, ir_value state) {
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, state, i)); i++)
    if (split_goes_on(r, user) && !r->member_of[user]) return true;
  return false;
}

static void hold_states(split_region *r) {
  r->state_bytes = 0;
  for (uint32_t i = 0; r->has_states && i < r->instances.count; i++) {
    ir_value v = r->instances.at[i].value;
    if (!ir_value_get(r->m, v)->op && is_read_by_others(r, v))
      r->state_bytes = saturated_sum(r->state_bytes, ir_value_bytes(r->m, v));
  }
  r->held_bytes = saturated_sum(r->held_bytes, r->state_bytes);
}

void split_find_held(split_region *r) {
  hold_states(r);
  for (uint32_t i = 0; i < r->members.count; i++) {
    ir_op op = r->members.at[i].op;
    for (ir_value v, j = 0; (v = ir_result_at(r->m, op, j)); j++) {
      r->is_read[v] = r->state->users.first[v] < r->state->users.first[v + 1];
      if (r->needed_outside[v]) continue;
      r->needed_outside[v] = is_needed_outside(r, v) || (r->is_cut && r->is_cut[v]);
      if (r->needed_outside[v] && split_is_large(r, v) && !split_is_only_cut(r, v)) hold(r, v);
      if (r->needed_outside[v] && !split_has_whole_member(r, op)) r->failed = true;
    }
  }
}

/* ---- the most at one time ---- */
/* Loops run in turn with what stands outside: the loop of stage s at 2 s + 1, and ops that wait for
 * it, but for no later one, at 2 s + 2. */
static int64_t last_read_outside(split_region *r, ir_value v) {
  int64_t last = 0;
  for (ir_op user, i = 0; (user = ir_user_at(&r->state->users, v, i)); i++) {
    bool is_member = r->member_of[user], is_end = !ir_op_get(r->m, user)->n_results;
    if (is_end || (is_member && split_uses_below(r, user, v))) return 2 * (int64_t)r->n_stages;
    if (is_member) continue;
    last = max64(last, 2 * (int64_t)split_outside_stage(r, ir_result(r->m, user, 0)));
  }
  return last;
}

static void add_to(split_held *h, int64_t bytes, bool is_returned) {
  h->bytes = saturated_sum(h->bytes, bytes);
  if (is_returned) h->returned_bytes = saturated_sum(h->returned_bytes, bytes);
}

static bool is_held(const split_region *r, ir_value v, const bool *without) {
  return r->needed_outside[v] && split_is_large(r, v) && !split_is_only_cut(r, v) &&
         !(without && without[v]);
}

typedef struct turn {
  split_held comes, goes;
} turn;

/* By time. last_read: by loops. */
static turn *turns(split_region *r, const bool *without, const int32_t *last_read) {
  turn *at = ARENA_ARRAY(r->scratch, turn, 2 * (size_t)r->n_stages + 2);
  for (ir_value v = 1; v < r->n_values; v++) {
    if (!is_held(r, v, without)) continue;
    int64_t made = 2 * (int64_t)split_outside_stage(r, v) - 1;
    int64_t read = max64(last_read_outside(r, v), 2 * (int64_t)last_read[v] + 1);
    CTX_CHECK(r->m->ctx, 0 < made && made <= 2 * (int64_t)r->n_stages);
    add_to(&at[made].comes, ir_value_bytes(r->m, v), is_returned(r, v));
    add_to(&at[max64(made, read) + 1].goes, ir_value_bytes(r->m, v), is_returned(r, v));
  }
  return at;
}

/* What is too much to be counted stays. */
static int64_t change(int64_t now, int64_t comes, int64_t goes) {
  int64_t all = saturated_sum(now, comes);
  return all < INT64_MAX ? all - goes : all;
}

static split_held most_of(const split_region *r, const turn *at) {
  split_held now = {0}, most = {0};
  for (int32_t t = 0; t <= 2 * r->n_stages; t++) {
    now.bytes = change(now.bytes, at[t].comes.bytes, at[t].goes.bytes);
    now.returned_bytes =
        change(now.returned_bytes, at[t].comes.returned_bytes, at[t].goes.returned_bytes);
    if (now.bytes > most.bytes) most = now;
  }
  return most;
}

static split_held all_of(const split_region *r, const bool *without) {
  split_held all = {0};
  for (ir_value v = 1; v < r->n_values; v++)
    if (is_held(r, v, without)) add_to(&all, ir_value_bytes(r->m, v), is_returned(r, v));
  return all;
}

static bool is_held_at_once(const split_region *r) { return r->n_held < 2 || r->n_stages < 2; }

static split_held held_with_states(const split_region *r, split_held h) {
  add_to(&h, r->state_bytes, false);
  return h;
}

split_held split_most_held(split_region *r, const bool *without) {
  if (is_held_at_once(r)) return held_with_states(r, all_of(r, without));
  return held_with_states(r, most_of(r, turns(r, without, split_last_reads(r))));
}

split_held split_least_held(split_region *r, const bool *without) {
  if (is_held_at_once(r)) return held_with_states(r, all_of(r, without));
  int32_t *last_read = ARENA_ARRAY(r->scratch, int32_t, r->m->values.count);
  return held_with_states(r, most_of(r, turns(r, without, last_read)));
}

bool split_is_put_out(const split_region *r, ir_value v) {
  bool later = r->is_read[v] && !r->is_passed_on[v] && !split_is_large(r, v) &&
               (r->n_stages > 1 || !r->may_shift);
  bool only_again = split_is_only_cut(r, v) && !split_begins_span(r, v, r->outside_stage[v] - 1);
  return later || (r->needed_outside[v] && !only_again);
}

bool split_puts_out(const split_region *r, const split_member *member) {
  if (split_is_partial(r, member)) return false;
  for (uint32_t j = 0; j < ir_op_get(r->m, member->op)->n_results; j++) {
    if (!member->is_idle && split_is_put_out(r, ir_result(r->m, member->op, j))) return true;
  }
  return false;
}

bool split_is_part_of_argument(const ir_module *m, ir_value v) {
  for (ir_op op; (op = ir_value_get(m, v)->op); v = ir_operand(m, op, 0)) {
    ir_kind kind = ir_kind_of(m, op);
    if (kind != IR_OP_RESHAPE && kind != IR_OP_SLICE && kind != IR_OP_OPTIMIZATION_BARRIER)
      return false;
  }
  return true;
}

/* ---- what stays in memory ---- */
/* Counts a large value of the block once. A part of an argument that is read whole, or that not
 * even shifted slices can be read of, is there in any case. */
static void count_stuck(const split_region *r, ir_value v, bool is_whole, bool *counted,
                        int64_t *in_out_bytes) {
  if (counted[v] || r->needed_outside[v] || r->is_passed_on[v] ||
      !ir_is_made_in(r->m, v, r->block) || !split_is_large(r, v))
    return;
  if (is_whole && split_is_part_of_argument(r->m, v)) return;
  counted[v] = true;
  *in_out_bytes = saturated_sum(*in_out_bytes, ir_value_bytes(r->m, v));
}

/* What is sorted is read slice by slice, each made anew. */
static bool is_read_in_parts(const split_region *r, const split_member *member, uint32_t operand) {
  const split_factor *f = &member->factor;
  return split_is_sorted(r->m, member->op, f) &&
         split_can_make_part(r->m, r->block, ir_operand(r->m, member->op, operand),
                             f->results[0].dim, r->goal.threshold_bytes);
}

int64_t split_stuck_bytes(split_region *r) {
  bool *counted = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  int64_t total = r->held_bytes;
  if (r->failed) return INT64_MAX;
  for (const split_instance *at = r->instances.at; at < VEC_END(r->instances); at++)
    if (!at->traced) count_stuck(r, at->value, r->may_shift || at->pos.dim < 0, counted, &total);
  for (const split_member *member = r->members.at; member < VEC_END(r->members); member++)
    for (uint32_t j = 0; j < ir_op_get(r->m, member->op)->n_operands; j++)
      if (member->factor.operands[j].dim < 0 && !member->is_idle && !is_read_in_parts(r, member, j))
        count_stuck(r, ir_operand(r->m, member->op, j), true, counted, &total);
  return total;
}
