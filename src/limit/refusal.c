#include "limit/refusal.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "limit/minimum.h"
#include "limit/referee.h"
#include "limit/result.h"
#include "limit/witness.h"
#include "machine/tuned.h"
#include "plan/explain.h"
#include "plan/peak.h"

enum { MOST_BLOCKERS = 5 }; /* rows of a refusal */

/* What leads from the limit to set to what is estimated there. The two are one number to who reads
 * them, unless the limit is below what it is said to need; else XLA's word and the estimate differ,
 * and the limit holds by XLA's. */
static const char *words_between(const job *j, int64_t limit, int64_t estimated) {
  bool is_less = limit < estimated;
  if (!is_less && limit - estimated <= limit / 50) return ", where it needs: ";
  if (!j->options.referee) return ", where weir estimates: ";
  return is_less ? ", where XLA needs less than weir estimates: "
                 : ", where XLA may need more than weir estimates: ";
}

/* Who holds the peak at the smallest limit, and where in the source it comes from: what stands in
 * the way of less. */
static void put_blockers(const job *j, const ir_module *m, int64_t limit, strbuf *out) {
  const ir_module *shown = m ? m : j->prepared;
  plan_peak peak =
      plan_peak_of(out->arena, shown, m ? PLAN_ORDER_MEMORY_UNHOISTED : PLAN_ORDER_MEMORY,
                   machine_memory(&j->machine));
  strbuf_puts(out, words_between(j, limit, peak.total_bytes));
  plan_explain_peak(shown, &peak, out, MOST_BLOCKERS);
  while (out->length && out->text[out->length - 1] == '\n') out->text[--out->length] = '\0';
}

/* One number is to be read off: the limit to set. why: why the search ended; blockers: what
 * needs as much. */
static weir_status refuse_with(job *j, int64_t least, const char *why, const char *blockers) {
  arena *a = arena_create(&j->c);
  weir_status status =
      ctx_error(&j->c, WEIR_RESOURCE_EXHAUSTED,
                "no way found under the limit of %s: set it to %lld bytes or more (%s%s)%s",
                plan_bytes_text(a, j->options.memory_limit_bytes), (long long)least,
                plan_bytes_text(a, least), why, blockers);
  arena_destroy(a);
  return status;
}

/* Why the search ended; "": it has tried all that there is. */
static const char *why_it_ended(const job *j, arena *a, const search *failed, int64_t held) {
  if (held)
    return arena_printf(a, "; arguments and results alone are %s", plan_bytes_text(a, held));
  if (!failed->was_stopped) return "";
  return arena_printf(a,
                      "; the search was stopped after %lld ops, and goes on with a larger "
                      "WEIR_SEARCH_OPS or --search-ops",
                      (long long)search_ops(j));
}

/* *found: the limit holds, if a climb with that budget ends with a split. */
static weir_status climb_again(job *j, int64_t limit, int64_t room_ops, minimum *found) {
  search s = search_under(j, limit, PLAN_ORDER_MEMORY_UNHOISTED, MOST_COMPILES, &room_ops);
  WEIR_TRY(search_all(j, &s));
  if (!s.found.m) WEIR_TRY(witness_hold(j, limit, COMPILES_OF_WITNESSES, &s));
  bool holds = s.found.m && (s.found.needs.is_xlas || !j->options.referee);
  if (holds) minimum_keep(found, limit, s.found.m);
  else if (s.found.m) ir_module_destroy(s.found.m);
  found->is_sure = holds;
  return WEIR_OK;
}

/* The number that a refusal names is to hold under the same budget. A climb comes to what a share
 * of its budget has found, unless the budget is so small that the share allows for a candidate
 * more. as_it_came: holds without a search; room_ops: that a climb's search has. */
static weir_status confirm_by_climb(job *j, int64_t room_ops, int64_t as_it_came, minimum *found) {
  int64_t limits[] = {found->limit, halfway(found->limit, as_it_came)};
  for (size_t i = 0; i < sizeof limits / sizeof *limits && !found->is_sure; i++)
    if (limits[i] < as_it_came) WEIR_TRY(climb_again(j, limits[i], room_ops, found));
  if (!found->is_sure) minimum_keep(found, as_it_came, NULL);
  return WEIR_OK;
}

/* XLA has not been asked about the program's own order, which looked hopeless. It may need less
 * than whatever was found; a climb asks about what is not far. */
static void try_own_order(job *j, minimum *found) {
  bool may = !found->held.m && j->options.referee && j->result->summary.before_is_estimate;
  int64_t estimate = may ? referee_estimate(j, j->m, PLAN_ORDER_PROGRAM) : 0;
  if (!may || (found->m && estimate >= found->limit)) return;
  int64_t peak = referee_report_as_it_came(j, PLAN_ORDER_PROGRAM).peak;
  if (peak < found->limit && (double)estimate <= TUNED_FAR * (double)peak)
    minimum_keep(found, peak, NULL);
}

/* *found: the number that a refusal names, and what holds it. */
static weir_status find_number(job *j, const refusal *r, minimum *found) {
  int64_t limit = j->options.memory_limit_bytes, held = referee_held_throughout(j);
  bool was_estimated = j->options.referee && j->result->summary.before_is_estimate;
  int64_t as_it_came = r->ordered < r->peak || was_estimated ? r->ordered : r->peak;
  *found = (minimum){.limit = as_it_came,
                     .low = held > limit ? held - 1 : limit,
                     .guess = r->failed->seen.least,
                     .seen = r->failed->reported,
                     .seen_at = r->failed->reported_at,
                     .seen_ops = j->c.looked_at,
                     .doubts = r->failed->doubts == DISPELLED ? DISPELLED : UNASKED,
                     .start = r->failed->seen.at_least,
                     .left_ops = search_budget(j, MINIMUMS_SHARE),
                     .given = limit};
  if (r->sure) {
    WEIR_TRY(minimum_climb(j, found));
    found->left_ops = search_budget(j, NEAR_SHARE);
  }
  WEIR_TRY(minimum_find(j, found));
  if (j->options.search_ops > 0 && !found->held.m)
    WEIR_TRY(confirm_by_climb(j, r->failed->room_ops, as_it_came, found));
  try_own_order(j, found);
  CTX_CHECK(&j->c, found->limit >= r->sure);
  return WEIR_OK;
}

/* The number was searched. */
static weir_status refuse_at(job *j, const minimum *found, const char *why) {
  arena *a = arena_create(&j->c);
  strbuf blockers = strbuf_make(a);
  put_blockers(j, found->m, found->limit, &blockers);
  j->result->summary.minimum_bytes = found->limit;
  weir_status status = refuse_with(j, found->limit, why, blockers.text);
  arena_destroy(a);
  return status;
}

weir_status refusal_make(job *j, refusal r, climb *out) {
  const search *failed = r.failed;
  CTX_CHECK(&j->c, j->options.memory_limit_bytes > 0 && !failed->found.m);
  out->is_refused = true;
  int64_t candidates = failed->reported && !failed->was_stopped ? failed->reported : INT64_MAX;
  int64_t reported = min64(min64(r.ordered ? r.ordered : r.peak, r.peak), candidates);
  bool is_sharded = j->spread == SPLIT_SHARDED; /* less than XLA reported can't be looked for */
  if (is_sharded) j->result->summary.minimum_bytes = reported;
  arena *a = arena_create(&j->c);
  const char *why = why_it_ended(j, a, failed, r.sure);
  if (j->options.minimum == WEIR_MINIMUM_NEVER || is_sharded)
    return refuse_with(j, reported, why, "");
  if (!r.ordered) r.ordered = referee_report_as_it_came(j, PLAN_ORDER_MEMORY).peak;
  minimum found;
  WEIR_TRY(find_number(j, &r, &found));
  if (found.held.m) *out = (climb){.outcome = WEIR_REWRITTEN, .taken = found.held};
  weir_status status = found.held.m ? WEIR_OK : refuse_at(j, &found, why);
  if (found.m) ir_module_destroy(found.m);
  arena_destroy(a);
  return status;
}
