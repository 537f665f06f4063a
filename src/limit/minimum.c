#include "limit/minimum.h"

#include <math.h>

enum {
  MOST_PROBES = 40, /* splits without XLA */
  MOST_SEARCHED_OPS =
      200000,       /* of all candidates so far: then the smallest limit is left at what is known */
  CLIMBS_SHARE = 4, /* but at least so much of what the climb took is for its search */
  MOST_CONFIRMATIONS = 3,  /* by XLA */
  COMPILES_TO_CONFIRM = 2, /* in each */
};

static void keep_found(minimum *found, int64_t limit, ir_module *m) {
  if (found->m) ir_module_destroy(found->m);
  found->limit = limit;
  found->m = m;
}

/* *out_peak: what it came to; 0: it does not hold. */
static weir_status try_limit(job *j, int64_t limit, int32_t most_compiles, minimum *found,
                             int64_t *out_peak) {
  search s = search_for_limit(j, limit, most_compiles);
  if (found->start.slice_bytes) WEIR_TRY(search_near(j, &s, &found->start));
  else WEIR_TRY(search_all(j, &s));
  bool holds = s.found.m && (!most_compiles || s.found.needs.is_xlas);
  if (holds) keep_found(found, limit, s.found.m);
  else if (s.found.m) ir_module_destroy(s.found.m);
  *out_peak = holds ? s.found.needs.peak : 0;
  return WEIR_OK;
}

/* By weir's estimate, until 1 % below the limit found does not hold. What a split under one limit
 * came to is the next guess: limits that hold need not lie side by side. */
static weir_status bisect_limit(job *j, int64_t most_ops, minimum *found) {
  int64_t low = found->low, guess = found->guess;
  CTX_CHECK(&j->c, low >= 0 && found->limit >= 0);
  for (int probes = 0;
       probes < MOST_PROBES && j->searched_ops < most_ops && j->c.looked_at < j->search_end;
       probes++) {
    int64_t high = found->limit, below = high - high / 100 - 1,
            middle = (int64_t)sqrt((double)low * (double)high), probe = below, peak;
    bool guesses = guess > found->low && guess < below;
    if (guesses) probe = guess;
    else if (below <= low) break;
    else if (middle > low && middle < below) probe = middle;
    CTX_CHECK(&j->c, probe < found->limit); /* each step finds less, or ends it */
    WEIR_TRY(try_limit(j, probe, 0, found, &peak));
    guess = peak;
    if (peak) continue;
    if (!guesses && probe == below) break;
    if (!guesses) low = probe;
  }
  return WEIR_OK;
}

/* Where XLA can be asked, it has the last word on what the estimate found. high: holds, without XLA
 * being asked again. */
static weir_status confirm_limit(job *j, int64_t high, minimum *found) {
  for (int tries = 0; tries < MOST_CONFIRMATIONS && found->limit < high; tries++) {
    int64_t limit = found->limit, peak;
    WEIR_TRY(try_limit(j, limit, COMPILES_TO_CONFIRM, found, &peak));
    if (peak) break;
    bool again = tries + 1 < MOST_CONFIRMATIONS && limit < high - limit / 20;
    if (again) found->limit = limit + limit / 20;
    else keep_found(found, high, NULL);
  }
  return WEIR_OK;
}

weir_status minimum_find(job *j, minimum *found) {
  int64_t high = found->limit, climb_ops = j->searched_ops,
          most_ops = climb_ops + climb_ops / CLIMBS_SHARE;
  if (most_ops < MOST_SEARCHED_OPS) most_ops = MOST_SEARCHED_OPS;
  if (found->start.slice_bytes) WEIR_TRY(bisect_limit(j, most_ops, found));
  found->start = (place){0};
  WEIR_TRY(bisect_limit(j, most_ops - climb_ops, found));
  if (!j->options.referee) return WEIR_OK;
  search_begin(j, MINIMUMS_SHARE);
  return confirm_limit(j, high, found);
}

weir_status minimum_climb(job *j, minimum *found) {
  search s = search_for_limit(j, found->low, 0);
  WEIR_TRY(search_all(j, &s));
  if (s.found.m) keep_found(found, s.limit, s.found.m);
  found->guess = s.found.m ? s.found.needs.peak : s.least;
  if (!s.found.m) found->start = s.at_least;
  return WEIR_OK;
}
