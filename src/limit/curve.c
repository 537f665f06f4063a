#include "limit/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "limit/ladder.h"
#include "limit/result.h"
#include "limit/search.h"
#include "limit/witness.h"

enum { MOST_POINTS = 8, MOST_SEARCHED_OPS = 60000 /* beside what the climb took */ };

static int64_t most_trips(const made_loops *made) {
  int64_t most = 0;
  for (uint32_t i = 0; i < made->count; i++)
    if (made->at[i].trips > most) most = made->at[i].trips;
  return most;
}

static weir_status add_split(job *j, arena *a, int64_t limit, int64_t *left_ops, curve *out) {
  search s = search_under(j, limit, PLAN_ORDER_MEMORY_UNHOISTED, 0, left_ops);
  WEIR_TRY(search_all(j, &s));
  if (!s.found.m) WEIR_TRY(witness_hold(j, limit, 0, &s));
  const candidate *c = &s.found;
  if (!c->m) return WEIR_OK;
  VEC_PUSH(a, out,
           (curve_point){.limit = limit,
                         .peak = c->needs.peak,
                         .flops = c->flops,
                         .time_ns = saturated_int(c->time_ns),
                         .trips = most_trips(&c->made),
                         .loops = (int32_t)c->made.count});
  ir_module_destroy(s.found.m);
  return WEIR_OK;
}

static void add_as_it_came(const weir_summary *s, arena *a, curve *out) {
  curve_point p = {.limit = s->peak_before_bytes,
                   .peak = s->peak_before_bytes,
                   .flops = s->flops_before,
                   .time_ns = s->time_before_ns};
  VEC_PUSH(a, out, p);
}

static void add_taken(const job *j, const climb *c, arena *a, curve *out) {
  const weir_summary *s = &j->result->summary;
  bool is_point = c->outcome == WEIR_REWRITTEN && !c->is_refused && s->limit_bytes;
  curve_point p = {.limit = s->limit_bytes,
                   .peak = s->peak_after_bytes,
                   .flops = s->flops_after,
                   .time_ns = s->time_after_ns,
                   .trips = most_trips(&c->taken.made),
                   .loops = s->loops};
  if (is_point) VEC_PUSH(a, out, p);
}

static int by_limit(const void *x, const void *y) {
  const curve_point *a = x, *b = y;
  return a->limit < b->limit ? -1 : a->limit > b->limit;
}

static bool has_curve(const job *j, int64_t low) {
  const weir_summary *s = &j->result->summary;
  bool is_trial = j->options.only_passes || j->options.stop_after;
  return low > 0 && low < s->peak_before_bytes && !is_trial && !s->only_faster;
}

/* From above: the smaller a limit, the longer its search. */
weir_status curve_find(job *j, arena *a, const climb *c, curve *out) {
  const weir_summary *s = &j->result->summary;
  int64_t low = s->minimum_bytes ? s->minimum_bytes : s->limit_bytes;
  *out = (curve){0};
  if (!has_curve(j, low)) return WEIR_OK;
  WEIR_TRY(ladder_prepare(j));
  if (j->spread == SPLIT_SHARDED) return WEIR_OK;
  int64_t most_ops = j->searched_ops + MOST_SEARCHED_OPS,
          *left_ops = search_budget(j, MINIMUMS_SHARE);
  double ratio = (double)s->peak_before_bytes / (double)low;
  add_as_it_came(s, a, out);
  add_taken(j, c, a, out);
  for (int i = MOST_POINTS - 2; i >= 0 && *left_ops > 0 && j->searched_ops < most_ops; i--) {
    int64_t limit = (int64_t)((double)low * pow(ratio, i / (double)(MOST_POINTS - 1)));
    if (limit <= low) limit = low;
    if (limit != s->limit_bytes || c->is_refused) WEIR_TRY(add_split(j, a, limit, left_ops, out));
  }
  qsort(out->at, out->count, sizeof *out->at, by_limit);
  return WEIR_OK;
}
