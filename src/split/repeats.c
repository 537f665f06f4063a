#include "split/repeats.h"

#include "split/held.h"
#include "split/stages.h"

enum {
  MOST_COPIES = 16, /* of a member on average, in loops that have more than MOST_MADE together */
  MOST_MADE = 4096
};

void split_count_loops(split_region *r) {
  bool *counted = ARENA_ARRAY(r->scratch, bool, (size_t)(r->n_stages * r->n_groups) + 1);
  for (uint32_t i = 0; i < r->members.count; i++) {
    const split_member *member = &r->members.at[i];
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
  int64_t made;
  VEC(uint32_t) pending; /* members whose operands are still to be looked at */
} making;

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
    if (!split_is_inside(k->r, v, member->factor.operands[j], k->stage)) continue;
    for (uint32_t i = r->member_of[ir_value_get(r->m, v)->op]; i; i = r->members.at[i - 1].next)
      make_member(k, i - 1);
  }
}

/* What the loop of a stage puts out, and all that it has to make for it. */
static void make_stage(making *k) {
  const split_region *r = k->r;
  for (uint32_t i = r->stage_from[k->stage]; i < r->stage_from[k->stage + 1]; i++)
    if (split_puts_out(r, &r->members.at[r->by_stage[i]])) make_member(k, r->by_stage[i]);
  while (k->pending.count) make_operands(k, k->pending.at[--k->pending.count]);
}

void split_refuse_repetition(split_region *r) {
  if ((int64_t)r->n_loops * r->members.count <= MOST_MADE || r->n_loops <= MOST_COPIES) return;
  int64_t most = (int64_t)MOST_COPIES * r->members.count;
  making k = {.r = r, .last_made = ARENA_ARRAY(r->scratch, int32_t, r->members.count)};
  for (; k.stage < r->n_stages && k.made <= most; k.stage++) make_stage(&k);
  r->failed = r->repeats = k.made > most && k.made > MOST_MADE;
  if (r->failed)
    ctx_log(r->m->ctx, 4, "a region of %u members in %d loops repeats too much", r->members.count,
            r->n_loops);
}
