#include "split/repeats.h"

#include "base/ints.h"
#include "split/held.h"
#include "split/stages.h"

void split_count_loops(split_region *r) {
  bool *counted = ARENA_ARRAY(r->scratch, bool, (size_t)(r->n_stages * r->n_groups) + 1);
  for (const split_member *member = r->members.at; member < VEC_END(r->members); member++) {
    int32_t loop = member->stage * r->n_groups + member->group;
    if (counted[loop] || !split_puts_out(r, member)) continue;
    counted[loop] = true;
    r->n_loops++;
  }
}

typedef struct making { /* by one loop after the other */
  split_region *r;
  int32_t stage;
  int32_t *last_made; /* by member: the last stage whose loop makes it, + 1 */
  int32_t *last_read; /* by value: the last stage whose loop reads it from outside; NULL: never
                         asked */
  int64_t made;
  VEC(uint32_t) pending; /* members whose operands are still to be looked at */
} making;

static making making_of(split_region *r) {
  return (making){.r = r, .last_made = ARENA_ARRAY(r->scratch, int32_t, r->members.count)};
}

static void make_member(making *k, uint32_t index) {
  if (k->last_made[index] == k->stage + 1) return;
  k->last_made[index] = k->stage + 1;
  k->made++;
  VEC_PUSH(k->r->scratch, &k->pending, index);
}

static void make_operands(making *k, uint32_t index) {
  const split_region *r = k->r;
  const split_member *member = &r->members.at[index];
  const ir_op_data *d = ir_op_get(r->m, member->op);
  for (uint32_t j = 0; j < d->n_operands; j++) {
    ir_value v = d->operands[j];
    if (!split_is_inside(k->r, v, member->factor.operands[j], k->stage)) {
      if (k->last_read) k->last_read[v] = k->stage;
      continue;
    }
    for (uint32_t i = r->member_of[ir_value_get(r->m, v)->op]; i; i = r->members.at[i - 1].next)
      make_member(k, i - 1);
  }
}

/* Of a value that may be cut. */
static uint32_t member_of(const split_region *r, ir_value v) {
  uint32_t member = r->member_of[ir_value_get(r->m, v)->op];
  CTX_CHECK(r->m->ctx, member);
  return member - 1;
}

/* What the loops of the stage put out, and all that it has to make for it. */
static void make_stage(making *k) {
  const split_region *r = k->r;
  for (uint32_t i = r->stage_from[k->stage]; i < r->stage_from[k->stage + 1]; i++)
    if (split_puts_out(r, &r->members.at[r->by_stage[i]])) make_member(k, r->by_stage[i]);
  for (uint32_t i = 0; r->is_cut && i < r->spans.count; i++)
    if (r->spans.at[i].from == k->stage) make_member(k, member_of(r, r->spans.at[i].value));
  while (k->pending.count) make_operands(k, k->pending.at[--k->pending.count]);
}

bool split_repeats(split_region *r, int32_t copies, int64_t at_least) {
  if ((int64_t)r->n_loops * r->members.count <= at_least || r->n_loops <= copies) return false;
  int64_t most = max64(at_least, (int64_t)copies * r->members.count);
  making k = making_of(r);
  for (; k.stage < r->n_stages && k.made <= most; k.stage++) make_stage(&k);
  return k.made > most;
}

const bool *split_made_in(split_region *r, int32_t stage) {
  making k = making_of(r);
  bool *is_made = ARENA_ARRAY(r->scratch, bool, r->members.count + 1);
  k.stage = stage;
  make_stage(&k);
  for (uint32_t i = 0; i < r->members.count; i++) is_made[i] = k.last_made[i] > 0;
  return is_made;
}

const int32_t *split_last_reads(split_region *r) {
  making k = making_of(r);
  k.last_read = ARENA_ARRAY(r->scratch, int32_t, r->m->values.count);
  for (; k.stage < r->n_stages; k.stage++) make_stage(&k);
  return k.last_read;
}
