#include "split/held.h"

#include "base/saturate.h"
#include "split/closure.h"
#include "split/kept.h"
#include "split/parts.h"
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
          (member->factor.operands[j].dim < 0 ||
           !split_is_inside(r, v, member->factor.operands[j], member->stage)))
        return true;
  }
  return false;
}

static bool is_needed_outside(split_region *r, ir_value v) {
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
  r->held_bytes = saturated_sum(r->held_bytes, bytes);
  if (is_returned(r, v)) r->returned_bytes = saturated_sum(r->returned_bytes, bytes);
}

bool split_is_only_cut(const split_region *r, ir_value v) {
  return r->is_cut && r->is_cut[v] && !r->is_held[v];
}

void split_find_held(split_region *r) {
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

bool split_is_put_out(const split_region *r, ir_value v) {
  bool later = r->is_read[v] && !split_is_large(r, v) && (r->n_stages > 1 || !r->may_shift);
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

static bool is_part_of_argument(const split_region *r, ir_value v) {
  ir_op op = ir_value_get(r->m, v)->op;
  for (; op; op = ir_value_get(r->m, v)->op) {
    ir_kind kind = ir_kind_of(r->m, op);
    if (kind != IR_OP_RESHAPE && kind != IR_OP_SLICE) return false;
    v = ir_operand(r->m, op, 0);
  }
  return true;
}

/* ---- what stays in memory ---- */
/* Counts a large value of the block once. A part of an argument that is read whole, or that not
 * even shifted slices can be read of, is there in any case. */
static void count_stuck(const split_region *r, ir_value v, bool is_whole, bool *counted,
                        int64_t *in_out_bytes) {
  if (counted[v] || r->needed_outside[v] || !ir_is_made_in(r->m, v, r->block) ||
      !split_is_large(r, v))
    return;
  if (is_whole && is_part_of_argument(r, v)) return;
  counted[v] = true;
  if (__builtin_add_overflow(*in_out_bytes, ir_value_bytes(r->m, v), in_out_bytes))
    *in_out_bytes = INT64_MAX;
}

/* What is sorted is read slice by slice, each made anew. */
static bool is_read_in_parts(const split_region *r, const split_member *member, uint32_t operand) {
  const split_factor *f = &member->factor;
  return split_is_sorted(r->m, member->op, f) &&
         split_can_make_part(r->m, r->block, ir_operand(r->m, member->op, operand),
                             f->results[0].dim, r->threshold_bytes);
}

int64_t split_stuck_bytes(split_region *r) {
  bool *counted = ARENA_ARRAY(r->scratch, bool, r->m->values.count);
  int64_t total = r->held_bytes;
  if (r->failed) return INT64_MAX;
  for (uint32_t i = 0; i < r->instances.count; i++) {
    const split_instance *at = &r->instances.at[i];
    if (!at->traced) count_stuck(r, at->value, r->may_shift || at->pos.dim < 0, counted, &total);
  }
  for (uint32_t i = 0; i < r->members.count; i++) {
    const split_member *member = &r->members.at[i];
    for (uint32_t j = 0; j < ir_op_get(r->m, member->op)->n_operands; j++)
      if (member->factor.operands[j].dim < 0 && !member->is_idle && !is_read_in_parts(r, member, j))
        count_stuck(r, ir_operand(r->m, member->op, j), true, counted, &total);
  }
  return total;
}
