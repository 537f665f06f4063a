#include "limit/fastest.h"

#include <assert.h>

#include "base/ints.h"
#include "limit/as_is.h"
#include "limit/faster.h"
#include "limit/referee.h"
#include "machine/tuned.h"
#include "plan/cost.h"

enum {
  COMPILES_PLAIN = 2,
  PLAIN_SHARE = 4, /* of the search: a program without passes that it may need has so much */
  BELOW_SHARE = NEAR_SHARE, /* likewise what is made for each smaller limit */
  CANDIDATES_BELOW = 10,    /* with kernels, and as many without */
  LEAST_MORE_ROOM = 3, /* part of a smaller room, by which the given one is larger at the least */
};

double fastest_devices(job *j, ir_module *m, int64_t peak) {
  if (split_spread_of(m) != SPLIT_SHARDED) return 1;
  double whole = (double)referee_estimate(j, m, PLAN_ORDER_MEMORY);
  return whole > (double)peak ? whole / (double)peak : 1;
}

/* What may be made as fast as another is one of the first candidates, or none: what is held by
 * shorter slices, or in other manners, takes longer. */
static void look_at_first(search *s) {
  s->manners = 1u << BY_PEAK;
  s->most_candidates = CANDIDATES_BELOW;
}

static void begin(const effort *e, search *s) {
  assert(s->limit == e->limit_bytes && s->most_compiles <= e->most_compiles);
  s->no_kernels |= e->no_kernels;
  s->kernels = e->kernels;
  s->in_functions = e->in_functions;
  s->asks_later = e->asks_later;
  s->most_time_ns = e->most_time_ns;
  if (e->most_time_ns > 0) look_at_first(s);
}

/* Some passes let more be split, for more work: *out is the program split without them, if that
 * holds the limit at once; its module is NULL if not, or if they changed nothing. */
static weir_status split_plainly(job *j, effort e, candidate *out) {
  *out = (candidate){0};
  if (!j->was_needed) return WEIR_OK;
  ir_module *plain = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, PREPARE_PLAINLY, e.limit_bytes, plain, NULL));
  search s = search_under(j, e.limit_bytes, PLAN_ORDER_MEMORY_UNHOISTED,
                          (int32_t)min64(e.most_compiles, COMPILES_PLAIN),
                          search_budget(j, e.share * PLAIN_SHARE));
  s.from = plain;
  begin(&e, &s);
  WEIR_TRY(search_by_peak(j, &s));
  WEIR_TRY(faster_instead(j, &s));
  *out = s.found;
  search_done_with(j, plain);
  return WEIR_OK;
}

/* Of two that hold, one without passes that may not be needed and one with them: what these make of
 * a program has more ops, which fuse less than predicted. */
static candidate faster_of(const job *j, candidate a, candidate b) {
  bool is_first = !b.m || (a.m && a.time_ns <= b.time_ns * TUNED_NEEDED_GAIN);
  candidate dropped = is_first ? b : a;
  if (a.m && b.m)
    ctx_log(&j->c, 2, "without passes that may not be needed: %.3g ms, with them %.3g",
            a.time_ns / 1e6, b.time_ns / 1e6);
  if (dropped.m) ir_module_destroy(dropped.m);
  return is_first ? a : b;
}

/* Of the splits that the searches for this limit come to the fastest, as predicted. */
static weir_status find_split(job *j, int64_t peak, effort e, search *s, candidate *out) {
  candidate plain;
  WEIR_TRY(split_plainly(j, e, &plain));
  *s = search_spread(j, e.limit_bytes, fastest_devices(j, j->prepared, peak), e.most_compiles,
                     search_budget(j, e.share));
  begin(&e, s);
  WEIR_TRY(search_all(j, s));
  WEIR_TRY(faster_instead(j, s));
  *out = faster_of(j, plain, s->found);
  return WEIR_OK;
}

/* ---- what is made for smaller limits ---- */
/* Rates are of a CPU that has its cores to itself: cards want slices as long as they may be, and so
 * do parts of a program, of which each device's are fewer trips then. */
static bool may_look_below(const job *j, effort e) {
  bool has_rates = !j->machine.device && j->spread == SPLIT_SINGLE,
       is_asked = e.most_compiles && j->options.referee && !e.asks_later;
  return has_rates && !is_asked && j->prepared->ops.count <= MOST_OPS_FOR_SPEED;
}

/* By estimate. */
static weir_status find_under(job *j, int64_t limit, int64_t peak, effort e, double most_time_ns,
                              candidate *out) {
  search s;
  e.limit_bytes = limit;
  e.share *= BELOW_SHARE;
  e.most_compiles = 0;
  e.most_time_ns = most_time_ns;
  return find_split(j, peak, e, &s, out);
}

/* With what its temporaries cost. */
static double whole_ns(const job *j, const candidate *c, int64_t held) {
  return c->time_ns + plan_pages_ns(c->needs.peak - held, &j->machine);
}

/* What is made for a smaller limit holds the given one, too, and may be faster than *in_out: its
 * slices stay in caches, and it cuts what there is room for here. */
static weir_status look_below(job *j, int64_t peak, effort e, candidate *in_out) {
  int64_t held = referee_held_throughout(j), given = e.limit_bytes;
  bool is_faster = false;
  if (!may_look_below(j, e)) return WEIR_OK;
  /* Of the temporaries as it came, so that all limits look at the same ones. The smallest comes
   * first: most slices are in cache then. */
  const int32_t shares[] = {TUNED_SLICED_SHARE, TUNED_HELD_SHARE};
  for (size_t i = 0; i < sizeof shares / sizeof *shares && !is_faster; i++) {
    int64_t room = max64(0, peak - held) / shares[i];
    candidate below;
    if (given - held <= room + room / LEAST_MORE_ROOM) continue;
    double ns = whole_ns(j, in_out, held);
    WEIR_TRY(find_under(j, held + room + 1, peak, e, ns * TUNED_SLOW_PLAN, &below));
    if (!below.m) continue;
    is_faster = whole_ns(j, &below, held) * TUNED_BELOW_GAIN <= ns;
    ctx_log(&j->c, 2, "as under %lld bytes: %.3g ms predicted, %.3g under the limit",
            (long long)(held + room + 1), whole_ns(j, &below, held) / 1e6, ns / 1e6);
    ir_module_destroy(is_faster ? in_out->m : below.m);
    if (is_faster) *in_out = below;
  }
  return WEIR_OK;
}

static weir_status find_fastest(job *j, int64_t peak, effort e, search *s, candidate *out) {
  WEIR_TRY(find_split(j, peak, e, s, out));
  return out->m ? look_below(j, peak, e, out) : WEIR_OK;
}

/* By XLA, which is asked unless it was. */
static bool holds_asked(job *j, int64_t limit, candidate *c) {
  bool is_known = c->needs.is_xlas || referee_ask(j, c, &c->needs);
  return is_known && c->needs.peak <= limit;
}

weir_status fastest_split(job *j, int64_t peak, effort e, search *s, candidate *out) {
  int64_t searched_ops = j->searched_ops;
  e.asks_later = e.most_compiles && j->options.referee && j->spread != SPLIT_SHARDED;
  WEIR_TRY(find_fastest(j, peak, e, s, out));
  if (!out->m || !e.asks_later || holds_asked(j, e.limit_bytes, out)) return WEIR_OK;
  ctx_log(&j->c, 2, "XLA does not hold what the estimate settled for: it is asked about each");
  ir_module_destroy(out->m);
  e.asks_later = false;
  j->searched_ops = searched_ops;
  return find_fastest(j, peak, e, s, out);
}
