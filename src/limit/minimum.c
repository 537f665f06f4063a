#include "limit/minimum.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "limit/witness.h"
#include "machine/tuned.h"

enum {
  MOST_PROBES = 40, /* splits without XLA */
  MOST_IN_VAIN = 2, /* whole searches that find nothing */
  MOST_SEARCHED_OPS =
      300000,       /* of all candidates so far: then the smallest limit is left at what is known */
  SEEN_SHARE = 2,   /* of a search: at most, for a candidate that XLA has seen */
  CLIMBS_SHARE = 4, /* but at least so much of what the climb took is for its search */
  MOST_CONFIRMATIONS = 5,  /* by XLA */
  COMPILES_TO_CONFIRM = 2, /* in each */
  COMPILES_OF_A_CLIMB = 8, /* for what XLA has said of a candidate under another limit */
};

/* What came of one limit. */
typedef struct trial {
  int64_t peak;     /* what it came to; 0: it does not hold */
  int64_t reported; /* the least that XLA said of a candidate; 0: it was not asked */
  int64_t least;    /* of all estimates */
} trial;

void minimum_keep(minimum *found, int64_t limit, ir_module *m) {
  if (found->m) ir_module_destroy(found->m);
  found->limit = limit;
  found->m = m;
}

static const place ANYWHERE = {0};

/* Of what is near a place XLA is asked whatever the estimate says. */
static weir_status search_from(job *j, place at, minimum *found, search *s) {
  s->doubts = at.slice_bytes && found->doubts == UNASKED ? ASKED : found->doubts;
  WEIR_TRY(at.slice_bytes ? search_near(j, s, &at) : search_all(j, s));
  if (s->doubts == DISPELLED) found->doubts = DISPELLED;
  return WEIR_OK;
}

/* The candidate of a trial once more, with its report: the limit is held after all. */
static weir_status hold_given(job *j, place at, int64_t limit, int32_t most_compiles,
                              minimum *found) {
  search s = search_for_limit(j, limit, most_compiles, found->left_ops);
  s.is_trial = false;
  CTX_CHECK(&j->c, found->given > 0 && !found->held.m);
  WEIR_TRY(search_from(j, at, found, &s));
  if (!s.found.m) return WEIR_OK;
  if (s.found.needs.peak <= found->given) found->held = s.found;
  else ir_module_destroy(s.found.m);
  return WEIR_OK;
}

/* Where XLA can be asked, the estimate does not hold a limit. */
static bool holds_given(const job *j, const minimum *found, const candidate *c) {
  bool is_judged = c->needs.is_xlas || !j->options.referee;
  return c->m && is_judged && c->needs.peak <= found->given;
}

static weir_status try_limit(job *j, place at, int64_t limit, int32_t most_compiles, minimum *found,
                             trial *out) {
  search s = search_for_limit(j, limit, most_compiles, found->left_ops);
  WEIR_TRY(search_from(j, at, found, &s));
  bool holds = s.found.m && (!most_compiles || s.found.needs.is_xlas);
  if (holds_given(j, found, &s.found)) WEIR_TRY(hold_given(j, at, limit, most_compiles, found));
  if (holds) minimum_keep(found, limit, s.found.m), found->near = at;
  else if (s.found.m) ir_module_destroy(s.found.m);
  *out = (trial){
      .peak = holds ? s.found.needs.peak : 0, .reported = s.reported, .least = s.seen.least};
  return WEIR_OK;
}

typedef struct probe {
  int64_t limit;          /* 0: there is none */
  bool is_guess, is_last; /* last: where it does not hold nothing less is looked at */
} probe;

/* What came to less, else halfway (in ratio) or 1 % below the limit found. */
static probe next_probe(const minimum *found, int64_t low, int64_t guess, bool halves) {
  int64_t below = found->limit - found->limit / 100 - 1, middle = halfway(low, found->limit);
  if (guess > found->low && guess < below) return (probe){guess, .is_guess = true};
  if (below <= low) return (probe){0};
  bool is_half = halves && middle > low && middle < below;
  return (probe){is_half ? middle : below, .is_last = !is_half};
}

/* By weir's estimate, until 1 % below the limit found does not hold. What a split under one limit
 * came to is the next guess: limits that hold need not lie side by side. Where what is near a place
 * comes to the same under a lower limit, within 1 %, it does so under those between. A whole
 * search, which may be the last that the budget allows, begins with 1 % below: it is likelier to
 * hold than half. */
static weir_status bisect_limit(job *j, place at, int64_t most_ops, minimum *found) {
  int64_t low = found->low, guess = found->guess, peak = 0;
  bool is_anywhere = !at.slice_bytes;
  int most = is_anywhere ? MOST_IN_VAIN : MOST_PROBES, left = most; /* in vain */
  CTX_CHECK(&j->c, low >= 0 && found->limit >= 0);
  for (int probes = 0; probes < MOST_PROBES && left > 0 && *found->left_ops > 0 &&
                       j->searched_ops < most_ops && !found->held.m;
       probes++) {
    probe p = next_probe(found, low, guess, is_anywhere ? left < most : left > 1);
    trial is;
    if (!p.limit) break;
    CTX_CHECK(&j->c, p.limit < found->limit); /* each step finds less, or ends it */
    WEIR_TRY(try_limit(j, at, p.limit, 0, found, &is));
    guess = is.peak;
    if (is.peak) peak = is.peak;
    if (is.peak) continue;
    left--;
    bool is_same = peak && peak <= is.least && is.least <= peak + peak / 100;
    if (p.is_last || (!is_anywhere && is_same)) break;
    if (!p.is_guess) low = p.limit;
  }
  return WEIR_OK;
}

/* Where XLA can be asked, it has the last word on what the estimate found. What a candidate needs
 * is tried next, or a little more, or ever larger steps. high: holds, though XLA is not asked
 * again. */
static weir_status confirm_limit(job *j, int64_t high, minimum *found) {
  int64_t step = found->limit / 20 + 1;
  for (int tries = 0; found->limit < high; tries++, step *= 2) {
    trial is;
    int64_t limit = found->limit;
    WEIR_TRY(try_limit(j, ANYWHERE, limit, COMPILES_TO_CONFIRM, found, &is));
    if (is.peak) break;
    int64_t next = is.reported ? max64(is.reported, limit + limit / 100 + 1) : limit + step;
    if (tries + 1 < MOST_CONFIRMATIONS && next < high) found->limit = next;
    else minimum_keep(found, high, NULL);
  }
  return WEIR_OK;
}

/* A search comes to what another has seen by what came before it there, which may be more than a
 * share. Who sets the limit looks for kernels, too, which takes as much again. */
static void begin_for_seen(job *j, minimum *found) {
  found->left_ops = search_budget(j, MINIMUMS_SHARE);
  int64_t wanted = min64(search_ops(j) / SEEN_SHARE, found->seen_ops);
  *found->left_ops = max64(*found->left_ops, search_ops_left(j, wanted));
}

/* Of less than that XLA has seen a candidate, under another limit: the estimate is high. For a
 * little less it is not worth a whole search with its compilations. */
static weir_status confirm_seen(job *j, minimum *found) {
  trial is;
  int64_t worth = found->limit - found->limit / TUNED_SMALLER_LIMIT;
  if (!found->seen || found->seen >= found->limit || found->held.m) return WEIR_OK;
  found->left_ops = search_budget(j, MINIMUMS_SHARE);
  WEIR_TRY(try_limit(j, found->seen_at, found->seen, COMPILES_TO_CONFIRM, found, &is));
  if (is.peak || found->held.m || found->seen >= worth) return WEIR_OK;
  begin_for_seen(j, found);
  return try_limit(j, ANYWHERE, found->seen, COMPILES_OF_A_CLIMB, found, &is);
}

/* By XLA, what is smaller first; of what the estimate found the candidate that it found, and what
 * is near it: a climb comes to that, for it came that far under a smaller limit. high: holds. */
static weir_status confirm(job *j, int64_t high, minimum *found) {
  int64_t estimated = found->limit;
  trial is = {0};
  WEIR_TRY(confirm_seen(j, found));
  if (found->held.m || found->limit < estimated) return WEIR_OK;
  found->left_ops = search_budget(j, MINIMUMS_SHARE);
  if (found->near.slice_bytes)
    WEIR_TRY(try_limit(j, found->near, estimated, COMPILES_TO_CONFIRM, found, &is));
  if (!is.peak && !found->held.m) WEIR_TRY(confirm_limit(j, high, found));
  return found->seen < estimated ? WEIR_OK : confirm_seen(j, found);
}

/* What needs the least of all witnesses is a limit that holds. Between it and the next limit that a
 * search did not hold there may be less. */
static weir_status find_witness(job *j, minimum *found) {
  int64_t peak, low;
  search s;
  WEIR_TRY(witness_find_least(j, &peak, &low));
  if (low < found->limit) found->low = max64(found->low, low);
  found->witness = peak;
  if (!peak || peak > found->limit) return WEIR_OK;
  WEIR_TRY(witness_hold(j, peak, 0, &s));
  if (s.found.m) minimum_keep(found, peak, s.found.m);
  else found->witness = 0;
  return WEIR_OK;
}

/* Passes that ask what is small beside the limit may leave another program under the one that was
 * found. Then it is tried with that. high: holds, as does what the witness needs. */
static weir_status check_prepared(job *j, int64_t high, minimum *found) {
  ir_module *m = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, PREPARE_FOR_A_SPLIT, found->limit, m, NULL));
  bool holds = pipeline_is_alike(m, j->prepared);
  if (!holds) {
    search s = search_for_limit(j, found->limit, 0, found->left_ops);
    s.from = m;
    WEIR_TRY(search_all(j, &s));
    holds = s.found.m;
    if (holds) ir_module_destroy(s.found.m);
  }
  search_done_with(j, m);
  if (!holds) minimum_keep(found, found->witness ? min64(found->witness, high) : high, NULL);
  return WEIR_OK;
}

/* By XLA: under what the witness needs by estimate, else under what XLA says of it. high: holds. */
static weir_status confirm_witness(job *j, int64_t high, minimum *found) {
  int64_t limit = found->witness;
  search s;
  WEIR_TRY(witness_hold(j, limit, COMPILES_TO_CONFIRM, &s));
  if (!s.found.m && s.reported > limit && s.reported < high) {
    limit = s.reported;
    WEIR_TRY(witness_hold(j, limit, COMPILES_TO_CONFIRM, &s));
  }
  if (holds_given(j, found, &s.found)) found->held = s.found; /* no trial: it is as it runs */
  else minimum_keep(found, s.found.m ? limit : high, s.found.m);
  return WEIR_OK;
}

/* without: what was found by then, but for the witness. */
static weir_status confirm_least(job *j, int64_t high, minimum without, minimum *found) {
  if (found->limit == found->witness) {
    WEIR_TRY(confirm_witness(j, without.limit, found));
    if (found->held.m) return WEIR_OK;
    if (found->m) return confirm_seen(j, found);
    found->near = without.near;
    return confirm(j, high, found);
  }
  WEIR_TRY(confirm(j, high, found));
  bool may_be_less = found->witness && found->witness < found->limit && !found->held.m;
  return may_be_less ? confirm_witness(j, found->limit, found) : WEIR_OK;
}

weir_status minimum_find(job *j, minimum *found) {
  int64_t high = found->limit, climb_ops = j->searched_ops,
          most_ops = climb_ops + climb_ops / CLIMBS_SHARE;
  if (most_ops < MOST_SEARCHED_OPS) most_ops = MOST_SEARCHED_OPS;
  CTX_CHECK(&j->c, !found->seen == !found->seen_at.slice_bytes);
  if (found->start.slice_bytes) WEIR_TRY(bisect_limit(j, found->start, most_ops, found));
  minimum without = *found;
  int64_t searched_ops = j->searched_ops;
  if (!found->held.m) WEIR_TRY(find_witness(j, found));
  j->searched_ops = searched_ops; /* they have a budget of their own */
  WEIR_TRY(bisect_limit(j, ANYWHERE, most_ops - climb_ops, found));
  if (found->limit < high && found->limit != found->witness && !found->held.m)
    WEIR_TRY(check_prepared(j, high, found));
  if (!j->options.referee || found->held.m) return WEIR_OK;
  return confirm_least(j, high, without, found);
}

weir_status minimum_climb(job *j, minimum *found) {
  search s = search_for_limit(j, found->low, 0, found->left_ops);
  WEIR_TRY(search_all(j, &s));
  if (s.found.m) minimum_keep(found, s.limit, s.found.m);
  found->guess = s.found.m ? s.found.needs.peak : s.seen.least;
  if (!s.found.m) found->start = s.seen.at_least;
  return WEIR_OK;
}
