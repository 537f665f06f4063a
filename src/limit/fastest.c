#include "limit/fastest.h"

#include "base/ints.h"
#include "limit/faster.h"
#include "limit/referee.h"
#include "machine/tuned.h"

enum {
  COMPILES_PLAIN = 2,
  PLAIN_SHARE = 4, /* of the search: a program without passes that it may need has so much */
};

double fastest_devices(job *j, ir_module *m, int64_t peak) {
  if (split_spread_of(m) != SPLIT_SHARDED) return 1;
  double whole = (double)referee_estimate(j, m, PLAN_ORDER_MEMORY);
  return whole > (double)peak ? whole / (double)peak : 1;
}

/* Some passes let more be split, for more work: *out is the program split without them, if that
 * holds the limit at once; its module is NULL if not, or if they changed nothing. */
static weir_status split_plainly(job *j, effort e, candidate *out) {
  *out = (candidate){0};
  if (!j->was_needed) return WEIR_OK;
  ir_module *plain = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare_plainly(j, plain));
  search_begin(j, e.share * PLAIN_SHARE);
  search s = search_under(j, j->options.memory_limit_bytes, PLAN_ORDER_MEMORY_UNHOISTED,
                          (int32_t)min64(e.most_compiles, COMPILES_PLAIN));
  s.from = plain;
  s.asks_later = e.asks_later;
  WEIR_TRY(search_by_peak(j, &s));
  WEIR_TRY(faster_instead(j, &s));
  *out = s.found;
  j->as_it_is.of = NULL;
  ir_module_destroy(plain);
  search_begin(j, e.share);
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

/* Of the program's splits that hold the fastest, as predicted. */
static weir_status find_fastest(job *j, int64_t peak, effort e, search *s, candidate *out) {
  candidate plain;
  WEIR_TRY(split_plainly(j, e, &plain));
  *s = search_spread(j, j->options.memory_limit_bytes, fastest_devices(j, j->prepared, peak),
                     e.most_compiles);
  s->asks_later = e.asks_later;
  WEIR_TRY(search_all(j, s));
  WEIR_TRY(faster_instead(j, s));
  *out = faster_of(j, plain, s->found);
  return WEIR_OK;
}

/* By XLA, which is asked unless it was. */
static bool holds_asked(job *j, candidate *c) {
  bool is_known = c->needs.is_xlas || referee_ask(j, c->m, c->order, &c->needs);
  return is_known && c->needs.peak <= j->options.memory_limit_bytes;
}

weir_status fastest_split(job *j, int64_t peak, effort e, search *s, candidate *out) {
  int64_t searched_ops = j->searched_ops;
  e.asks_later = e.most_compiles && j->options.referee && j->spread != SPLIT_SHARDED;
  WEIR_TRY(find_fastest(j, peak, e, s, out));
  if (!out->m || !e.asks_later || holds_asked(j, out)) return WEIR_OK;
  ctx_log(&j->c, 2, "XLA does not hold what the estimate settled for: it is asked about each");
  ir_module_destroy(out->m);
  e.asks_later = false;
  j->searched_ops = searched_ops;
  search_begin(j, e.share);
  return find_fastest(j, peak, e, s, out);
}
