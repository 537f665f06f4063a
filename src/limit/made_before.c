#include "limit/made_before.h"

#include <string.h>

enum { KEYS = 15 };

/* What a candidate follows from, and what became of it: more than was to be asked about. */
typedef struct before {
  const ir_module *from;
  int64_t keys[KEYS];
  split_order order;
} before;

struct made_before {
  arena *a;
  VEC(before) at;
};

static void keys_of(const search *s, int64_t keys[KEYS]) {
  const int64_t all[KEYS] = {s->limit,
                             s->target,
                             s->slice_bytes,
                             search_threshold(s),
                             s->thorough ? s->hold_bytes : s->limit,
                             s->manner,
                             s->order,
                             s->no_kernels ? -1 : (int64_t)s->kernels,
                             s->part_bytes,
                             s->spare_bytes,
                             s->cut_sixteenths,
                             s->refines_cuts,
                             s->no_hoisting,
                             s->is_trial,
                             s->thorough};
  memcpy(keys, all, sizeof all);
}

/* Not of values that are spread over devices, nor where the best of all is wanted. */
static bool may_know(const search *s) { return s->devices <= 1 && !s->seen.best_peak; }

bool made_before_was(const job *j, const search *s, split_order *order) {
  int64_t keys[KEYS], asked = order->asked_bytes;
  keys_of(s, keys);
  for (uint32_t i = 0; j->made_before && may_know(s) && i < j->made_before->at.count; i++) {
    const before *b = &j->made_before->at.at[i];
    bool is_whole = !b->order.is_given_up || b->order.most_bytes >= order->most_bytes,
         is_same = b->from == s->from && !memcmp(keys, b->keys, sizeof keys);
    if (!is_same || !is_whole || b->order.peak_bytes <= asked) continue;
    *order = b->order;
    order->asked_bytes = asked;
    return true;
  }
  return false;
}

void made_before_note(job *j, const search *s, const split_order *order, const int64_t *left_ops) {
  before b = {.from = s->from, .order = *order};
  bool is_over = order->peak_bytes > order->asked_bytes, is_cut = left_ops && *left_ops <= 0;
  if (!is_over || is_cut || !may_know(s)) return;
  if (!j->made_before) {
    arena *a = arena_create(&j->c);
    j->made_before = ARENA_NEW(a, struct made_before);
    j->made_before->a = a;
  }
  keys_of(s, b.keys);
  VEC_PUSH(j->made_before->a, &j->made_before->at, b);
}

void made_before_forget(job *j, const ir_module *from) {
  for (uint32_t i = 0; j->made_before && i < j->made_before->at.count; i++)
    if (j->made_before->at.at[i].from == from) j->made_before->at.at[i].from = NULL;
}
