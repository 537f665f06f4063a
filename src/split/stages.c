#include "split/stages.h"

#include "split/closure.h"
#include "split/instances.h"
#include "split/monoid.h"
#include "split/state.h"
#include "split/stream.h"

/* By an op, and all below it but for a loop, which reads its operands alone. */
static int32_t stage_after_operands(split_region *r, ir_op op) {
  int32_t stage = 0;
  for (ir_walk w = ir_walk_op(r->m, op); ir_next(&w);) {
    for (ir_value v, i = 0; (v = ir_operand_at(r->m, w.op, i)); i++) {
      int32_t s = ir_is_made_in(r->m, v, r->block) ? split_outside_stage(r, v) : 0;
      if (s > stage) stage = s;
    }
    if (ir_kind_of(r->m, op) == IR_OP_LOOP) break;
  }
  return stage;
}

static int32_t member_stage(split_region *r, uint32_t index);

/* The member whose sum this one adds to for nobody else; + 1, 0: none. The order in which a chain
 * of scatters adds up makes no difference but to rounding. */
static uint32_t added_to(const split_region *r, const split_member *member) {
  if (member->factor.role != SPLIT_REDUCED) return 0;
  ir_value sum = ir_operand(r->m, member->op, 0);
  if (!split_goes_on_with(r->m, member->op, sum)) return 0;
  uint32_t index = r->member_of[ir_value_get(r->m, sum)->op];
  if (!index || member->next || ir_user_at(&r->state->users, sum, 1)) return 0;
  const split_member *first = &r->members.at[index - 1];
  return first->next || first->factor.role != SPLIT_REDUCED ? 0 : index;
}

/* Where nothing else that the member reads comes later than the sum does, it is added to in the
 * same loop. */
static int32_t stage_after(split_region *r, split_member *member) {
  const split_factor f = member->factor;
  uint32_t onto = added_to(r, member);
  int32_t stage = onto ? member_stage(r, onto - 1) : 0, first = stage;
  for (uint32_t i = onto > 0; i < ir_op_get(r->m, member->op)->n_operands; i++) {
    int32_t s = split_instance_stage(r, ir_operand(r->m, member->op, i), f.operands[i]);
    if (s > stage) stage = s;
  }
  if (onto && stage == first && stage < SPLIT_NEVER) {
    member->onto = onto;
    r->is_passed_on[ir_operand(r->m, member->op, 0)] = true;
  }
  return stage;
}

static int32_t member_stage(split_region *r, uint32_t index) {
  split_member *member = &r->members.at[index];
  if (member->stage >= 0) return member->stage;
  int32_t stage = stage_after(r, member);
  /* What it waits for was put out by the loops just before its own. */
  online_terms terms;
  if (!r->goal.no_streaming && stage > 0 && stage < SPLIT_NEVER &&
      stream_member(r, &r->members.at[index], stage - 1, &terms)) {
    r->members.at[index].streams = ARENA_COPY(r->scratch, online_terms, &terms, 1);
    stage--;
  }
  return r->members.at[index].stage = stage;
}

/* The earliest stage after which one of the value's members has put it out. */
static int32_t stage_put_out(split_region *r, ir_op op) {
  int32_t best = SPLIT_NEVER;
  for (uint32_t i = r->member_of[op]; i; i = r->members.at[i - 1].next) {
    if (split_is_partial(r, &r->members.at[i - 1])) continue;
    int32_t s = member_stage(r, i - 1);
    if (s < SPLIT_NEVER && s + 1 < best) best = s + 1;
  }
  return best;
}

int32_t split_outside_stage(split_region *r, ir_value v) {
  if (!ir_is_made_in(r->m, v, r->block)) return 0;
  CTX_CHECK(r->m->ctx, r->outside_stage[v] >= 0);
  return r->outside_stage[v];
}

static int32_t body_stage(split_region *r, ir_value v, split_pos pos) {
  split_instance instance = *split_instance_get(r, v, pos);
  if (!instance.traced || r->failed) return SPLIT_NEVER;
  if (instance.body_stage >= 0) return instance.body_stage;
  ir_op op = ir_value_get(r->m, v)->op;
  int32_t stage = 0;
  for (uint32_t i = 0; i < ir_op_get(r->m, op)->n_operands; i++) {
    int32_t s = split_instance_stage(r, ir_operand(r->m, op, i), instance.factor.operands[i]);
    if (s > stage) stage = s;
  }
  return split_instance_get(r, v, pos)->body_stage = stage;
}

/* A large value of the region is read from outside only if there is no other way: that holds it in
 * memory. Or if it is there anyway, and making it anew would hold another one in its place. */
static bool is_dissolved(split_region *r, ir_value v) {
  return split_is_large(r, v) && ir_is_made_in(r->m, v, r->block) &&
         r->member_of[ir_value_get(r->m, v)->op] && !r->is_kept[v];
}

int32_t split_instance_stage(split_region *r, ir_value v, split_pos pos) {
  if (!ir_is_made_in(r->m, v, r->block)) return 0;
  if (pos.dim < 0) return split_outside_stage(r, v);
  if (is_dissolved(r, v)) {
    int32_t inside = body_stage(r, v, pos);
    return inside < SPLIT_NEVER ? inside : split_outside_stage(r, v);
  }
  int32_t outside = split_outside_stage(r, v);
  if (outside == 0 || r->is_kept[v]) return outside;
  int32_t inside = body_stage(r, v, pos);
  return inside < outside ? inside : outside;
}

bool split_is_cut_before(split_region *r, ir_value v, int32_t stage) {
  for (uint32_t i = r->is_cut ? r->first_span[v] : 0; i; i = r->spans.at[i - 1].next)
    if (r->spans.at[i - 1].from < stage && stage <= r->spans.at[i - 1].to) return true;
  return false;
}

bool split_is_inside(split_region *r, ir_value v, split_pos pos, int32_t stage) {
  if (r->is_passed_on[v]) return true;
  if (!ir_is_made_in(r->m, v, r->block) || pos.dim < 0) return false;
  if (split_is_cut_before(r, v, stage)) return false;
  int32_t outside = split_outside_stage(r, v);
  if (is_dissolved(r, v) || (outside > 0 && r->again[v] == SPLIT_MADE_AGAIN))
    return body_stage(r, v, pos) <= stage;
  return outside > stage;
}

const split_member *split_reduced_member(const split_region *r, ir_op op, int32_t stage) {
  for (split_member *k = split_first_member(r, op); k; k = split_next_member(r, k))
    if (k->factor.role == SPLIT_REDUCED && k->stage == stage) return k;
  return NULL;
}

/* ---- all of them ---- */
/* In program order, so that what an op reads has its stage already. Effects keep their order: what
 * follows an effect that waits for a stage waits with it. */
static void assign_stages(split_region *r) {
  int32_t last_effect = 0;
  for (ir_op op, i = 0; !r->failed && (op = ir_op_at(r->m, r->block, i)); i++) {
    for (uint32_t k = r->member_of[op]; k; k = r->members.at[k - 1].next) {
      int32_t stage = member_stage(r, k - 1);
      if (stage >= SPLIT_NEVER) r->failed = true;
      else if (stage + 1 > r->n_stages) r->n_stages = stage + 1;
    }
    bool effects = r->state->effects[op];
    int32_t stage = r->member_of[op] ? stage_put_out(r, op) : stage_after_operands(r, op);
    if (effects && stage < last_effect) stage = last_effect;
    if (effects) last_effect = stage;
    for (uint32_t j = 0; j < ir_op_get(r->m, op)->n_results; j++)
      r->outside_stage[ir_result(r->m, op, j)] = stage;
  }
}

static void sort_by_stage(split_region *r) {
  uint32_t n = r->members.count, *at = ARENA_ARRAY(r->scratch, uint32_t, (size_t)r->n_stages + 2);
  r->by_stage = ARENA_ARRAY(r->scratch, uint32_t, n);
  for (uint32_t i = 0; i < n; i++) at[r->members.at[i].stage + 2]++;
  for (int32_t stage = 0; stage < r->n_stages; stage++) at[stage + 1] += at[stage];
  for (uint32_t i = 0; i < n; i++) r->by_stage[at[r->members.at[i].stage + 1]++] = i;
  CTX_CHECK(r->m->ctx, at[r->n_stages] == n);
  r->stage_from = at;
}

void split_find_stages(split_region *r) {
  assign_stages(r);
  if (!r->failed) sort_by_stage(r);
}
