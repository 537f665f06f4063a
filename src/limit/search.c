#include "limit/search.h"

#include <assert.h>
#include <math.h>

#include "base/ints.h"
#include "base/saturate.h"
#include "ir/calls.h"
#include "machine/cpu.h"
#include "machine/tuned.h"
#include "pipeline/made.h"
#include "plan/cost.h"
#include "plan/peak.h"
#include "split/chunks.h"
#include "split/phases.h"
#include "split/schedules.h"
#include "limit/made_before.h"
#include "limit/referee.h"
#include "limit/result.h"

enum {
  FEW_PHASES = 3,       /* one layer of both directions, and its gradient */
  MOST_EXTRA_WORK = 10, /* times the operations of the program: more is as good as refused */
  MOST_SORTING = 400,   /* times its time, as predicted, where sorts are made slice by slice */
  COMPILES_IN_BLOCKS = 2,
  ALL_SEARCHES = 2,  /* times what one may look at; each small one has its share whatever is left */
  MOST_GROWTH = 4,   /* of a candidate, times the program's ops, however large that is */
  FIRST_CUTS = 12,   /* sixteenths of the room */
  FEWER_CUTS = 4,    /* so many less where slices are shorter */
  MOST_SPARED = 4,   /* times that checkpoints leave more, with the same slices */
  MOST_REFUSALS = 3, /* by XLA, of candidates: it may be out of memory, or not like any */
};

/* What a search may look at: some 20 s of CPU, or about three times what XLA takes for a program of
 * so many ops (2 s for 1,000 as LLVM code). */
static const int64_t SEARCH_OPS = 30000000, SEARCH_OPS_PER_OP = 1000;

split_goal search_goal_of_sizes(int64_t threshold_bytes, int64_t slice_bytes) {
  return (split_goal){.threshold_bytes = threshold_bytes,
                      .hold_bytes = threshold_bytes,
                      .carries_rows = true,
                      .slice_bytes = slice_bytes,
                      .cached_bytes = slice_bytes,
                      .generous_bytes = slice_bytes};
}

/* Bytes of one device as bytes of all. */
static int64_t of_all(int64_t bytes, double devices) {
  double all = (double)bytes * devices;
  return all < (double)INT64_MAX ? (int64_t)all : INT64_MAX;
}

int64_t search_threshold(const search *s) {
  int64_t share = s->target / s->share;
  if (s->threshold_bytes) return s->threshold_bytes;
  return s->manner == BY_SIZE || (s->thorough && s->slice_bytes < share) ? s->slice_bytes : share;
}

static bool adds_in_blocks(manner by) { return by == IN_BLOCKS || by == ANEW_IN_BLOCKS; }

static bool makes_anew(manner by) { return by == NESTED || by == ANEW_IN_BLOCKS || by == SORTED; }

static split_goal goal_of_holders(const job *j, const search *s) {
  machine_slices wanted = machine_slices_under(&j->machine, s->limit);
  const device_memory *memory = machine_memory(&j->machine);
  int64_t slice = s->slice_bytes,
          cached = j->machine.device ? slice : of_all(wanted.cached_bytes, s->devices),
          part_bytes = adds_in_blocks(s->manner) ? slice : s->part_bytes;
  return (split_goal){.threshold_bytes = search_threshold(s),
                      .hold_bytes = s->thorough ? s->hold_bytes : s->limit,
                      .slice_bytes = slice,
                      .cached_bytes = cached,
                      .scan_tile = wanted.scanned_bytes ? CPU_SCAN_TILE : 0,
                      .scanned_bytes = wanted.scanned_bytes,
                      .generous_bytes = part_bytes ? slice : slice * wanted.generous,
                      .nest = makes_anew(s->manner),
                      .may_sort = s->manner == SORTED,
                      .carries_rows = s->manner != BY_PEAK,
                      .leaves_masks = s->manner == MASKS_APART,
                      .cuts_steps = s->manner == BY_STEPS || s->manner == IN_TURNS,
                      .most_phases = s->manner == IN_TURNS ? SPLIT_MOST_PHASES : FEW_PHASES,
                      .fits_first = s->manner == BY_FIT,
                      .refines_cuts = s->refines_cuts,
                      .writes_over = s->refines_cuts && pipeline_can_call(&j->options, j->m),
                      .outside_first = s->manner == OUTSIDE,
                      .segments_first = s->manner == SEGMENTS,
                      .may_be_deep = s->manner == DEEPER,
                      .part_bytes = part_bytes,
                      .tile = memory ? memory->tile_lanes : 0,
                      .is_materialised = plan_is_materialised};
}

/* Of candidates, by estimate. */
static int64_t target_of(const search *s) { return s->enough > s->limit ? s->enough : s->target; }

static bool may_ask(const job *j, const search *s) {
  return s->most_compiles && j->options.referee;
}

static bool can_ask(const job *j, const search *s) { return may_ask(j, s) && !s->asks_later; }

/* Estimates above it are rejected. A search that XLA has corrected has no doubts, and of what is no
 * better than a candidate that XLA has seen it is not asked. */
static int64_t asked_bytes(const job *j, const search *s) {
  bool doubts =
      can_ask(j, s) && s->doubts == ASKED && s->target == s->limit && s->target < INT64_MAX / 2;
  int64_t bytes = doubts ? (int64_t)((double)s->target * TUNED_DOUBT) : target_of(s);
  if (s->doubted && bytes >= s->doubted) bytes = s->doubted - 1;
  return max64(bytes, target_of(s));
}

/* What comes to more is of no use: it neither holds, nor is it what a refusal names, nor a witness.
 * Of long slices all that holds is enough, for shorter ones are still to come. */
static int64_t most_bytes(const job *j, const search *s) {
  int64_t asked = asked_bytes(j, s), least = s->seen.best_peak ? s->seen.best_peak : s->seen.least;
  return s->slice_bytes >= TUNED_COARSE_BYTES ? s->target : max64(asked, least);
}

/* A candidate that would be the program as it is, which does not hold the limit, is not made:
 * *order says what it would be. */
static bool is_known(job *j, const search *s, split_order *order) {
  unsplit *u = &j->as_it_is;
  if (u->of != s->from || u->order != s->order) *u = splitter_unsplit(s->from, order);
  if (u->peak_bytes <= order->asked_bytes || !splitter_leaves_alone(u, order)) return false;
  bool is_live_over = u->live_bytes > s->target;
  order->peak_bytes = u->peak_bytes;
  if (!order->by_size) order->whole_bytes = is_live_over ? u->live_whole_bytes : u->whole_bytes;
  ctx_log(&j->c, 2, "no value to make slices of %lld bytes of", (long long)s->slice_bytes);
  return true;
}

void search_done_with(job *j, ir_module *m) {
  j->as_it_is.of = NULL;
  made_before_forget(j, m);
  ir_module_destroy(m);
}

int64_t search_ops(const job *j) {
  if (j->options.search_ops > 0) return j->options.search_ops;
  int64_t by_size = saturated_product(SEARCH_OPS_PER_OP, ir_count_inlined(j->m));
  return by_size > SEARCH_OPS ? by_size : SEARCH_OPS;
}

int64_t search_ops_left(const job *j, int64_t wanted) {
  int64_t all = search_ops(j), left = saturated_product(ALL_SEARCHES, all) - j->spent_ops;
  return saturated_sum(min64(wanted, max64(left, all / NEAR_SHARE)), 1);
}

int64_t *search_budget(job *j, int64_t share) {
  int64_t *ops = ARENA_NEW(arena_create(&j->c), int64_t);
  assert(share > 0);
  *ops = search_ops_left(j, search_ops(j) / share);
  return ops;
}

/* Of a candidate: what has more takes XLA as long as a whole search. */
static int64_t most_ops(const job *j, const ir_module *from) {
  return max64(search_ops(j) / TUNED_COMPILED_OP, saturated_product(MOST_GROWTH, from->ops.count));
}

/* What was looked at since. left_ops: NULL, or the search's. */
static void charge(job *j, int64_t since, int64_t *left_ops) {
  CTX_CHECK(&j->c, j->c.looked_at >= since);
  j->spent_ops += j->c.looked_at - since;
  if (left_ops) *left_ops -= j->c.looked_at - since;
}

/* Splits a copy of the prepared program; *out_m is the rewritten copy, NULL: it would be no other
 * and does not hold. */
static weir_status split_copy(job *j, const search *s, const int64_t *left_ops, split_order *order,
                              ir_module **out_m) {
  bool by_size = s->manner == BY_SIZE;
  *out_m = NULL;
  *order = (split_order){.order = s->order,
                         .is_trial = s->is_trial,
                         .goal = by_size ? search_goal_of_sizes(search_threshold(s), s->slice_bytes)
                                         : goal_of_holders(j, s),
                         .by_size = by_size,
                         .no_kernels = s->no_kernels,
                         .kernels = s->kernels,
                         .no_hoisting = s->no_hoisting,
                         .most_bytes = most_bytes(j, s),
                         .limit_bytes = s->target,
                         .asked_bytes = asked_bytes(j, s),
                         .most_ops = most_ops(j, s->from),
                         .search_end = left_ops ? saturated_sum(j->c.looked_at, *left_ops) : 0,
                         .cut_sixteenths = s->cut_sixteenths,
                         .spare_bytes = s->spare_bytes,
                         .machine = &j->machine};
  ir_module *m;
  if (!j->schedules) j->schedules = split_schedules_new(arena_create(&j->c));
  order->goal.schedules = j->schedules;
  if (is_known(j, s, order) || made_before_was(j, s, order)) return WEIR_OK;
  WEIR_TRY(pipeline_split_copy(j, s->from, order, &m));
  ctx_log(&j->c, 2, "slices of %lld bytes: estimated peak %lld, target %lld",
          (long long)s->slice_bytes, (long long)order->peak_bytes, (long long)s->target);
  j->searched_ops += s->from->ops.count + m->ops.count;
  *out_m = m;
  return WEIR_OK;
}

search search_under(const job *j, int64_t limit, plan_order order, int32_t most_compiles,
                    int64_t *left_ops) {
  assert(limit > 0 && left_ops && most_compiles >= 0);
  int64_t slice_bytes = machine_slices_under(&j->machine, limit).first_bytes;
  if (slice_bytes < LEAST_SLICE_BYTES) slice_bytes = LEAST_SLICE_BYTES;
  return (search){.from = j->prepared,
                  .limit = limit,
                  .target = limit,
                  .enough = limit,
                  .hold_bytes = limit,
                  .slice_bytes = slice_bytes,
                  .share = TUNED_LARGE_SHARE,
                  .cut_sixteenths = FIRST_CUTS,
                  .devices = 1,
                  .order = order,
                  .left_ops = left_ops,
                  .room_ops = *left_ops,
                  .most_compiles = most_compiles,
                  .no_kernels = j->options.tile == WEIR_TILE_OFF,
                  .seen = {.least = INT64_MAX}};
}

search search_spread(const job *j, int64_t limit, double devices, int32_t most_compiles,
                     int64_t *left_ops) {
  assert(devices >= 1);
  search s = search_under(j, limit, PLAN_ORDER_MEMORY_UNHOISTED, most_compiles, left_ops);
  s.devices = devices;
  s.target = of_all(limit, devices);
  s.slice_bytes = of_all(s.slice_bytes, devices);
  return s;
}

search search_for_limit(const job *j, int64_t limit, int32_t most_compiles, int64_t *left_ops) {
  search s = search_under(j, limit, PLAN_ORDER_MEMORY_UNHOISTED, most_compiles, left_ops);
  s.is_trial = s.no_kernels = true;
  return s;
}

/* Nothing is known of what XLA refuses. As a last resort there is the estimate, but of a sharded
 * program, and where the program holds its limit without it. */
static void note_refusal(job *j, search *s) {
  s->refusals++;
  if (s->refused || split_spread_of(j->m) == SPLIT_SHARDED || s->most_ns > 0) return;
  s->refused = ARENA_NEW(arena_create(&j->c), search);
  *s->refused = *s;
}

/* What is not going to run, or is likely to be refused, is asked about for its report alone. That
 * costs half of a compilation more where it is taken after all. fits: by estimate. */
static bool ask_xla(job *j, const search *s, ir_module *m, bool fits, verdict *out) {
  int64_t given = j->options.memory_limit_bytes;
  bool is_given = !given || max64(s->limit, s->enough) <= given;
  candidate asked = {.m = m, .order = s->order, .in_functions = s->in_functions};
  if (!s->is_trial && is_given && fits) return referee_ask(j, &asked, out);
  bool answered = referee_ask_report(j, &asked, out),
       is_taken = !s->is_trial && out->peak <= (is_given ? s->enough : given);
  return answered && is_taken ? referee_ask(j, &asked, out) : answered;
}

/* fits: by estimate. What XLA has compiled before does not count. */
static verdict judge_candidate(job *j, search *s, ir_module *m, int64_t peak_bytes, bool fits) {
  verdict v = {.peak = peak_bytes};
  CTX_CHECK(&j->c, s->compiles < s->most_compiles);
  int32_t before = j->result->summary.referee_compiles;
  if (!ask_xla(j, s, m, fits, &v) && fits) note_refusal(j, s);
  if (j->result->summary.referee_compiles > before) s->compiles++;
  return v;
}

/* The same without what splitting left in its arena: XLA is about to take much. */
static ir_module *compacted(ir_module *m, split_order *order) {
  ir_module *copy = ir_module_clone(m);
  order->made = made_copy(copy->arena, &order->made);
  ir_module_destroy(m);
  return copy;
}

static void shrink_slices(search *s) {
  int64_t step = s->slice_bytes > TUNED_COARSE_BYTES ? 2 : 4;
  bool is_last = s->slice_bytes > LEAST_SLICE_BYTES && s->slice_bytes / step < LEAST_SLICE_BYTES;
  s->slice_bytes = is_last ? LEAST_SLICE_BYTES : s->slice_bytes / step;
  s->hold_bytes /= step;
  s->thorough = s->shares_are_hopeless;
  s->share = s->thorough ? TUNED_SMALL_SHARE : TUNED_LARGE_SHARE;
}

/* Time grows with the square of the slices of what is sorted: they are as long as may just fit, by
 * what these came to. */
static void shrink_sorted(search *s, const split_order *order) {
  int64_t bytes = s->slice_bytes, most = bytes - bytes / 10, held = order->whole_bytes;
  shrink_slices(s);
  if (held >= s->target || order->peak_bytes <= s->target) return;
  double share = 0.97 * (double)(s->target - held) / (double)(order->peak_bytes - held);
  int64_t wanted = (int64_t)((double)bytes * share);
  if (wanted > s->slice_bytes) s->slice_bytes = wanted < most ? wanted : most;
}

/* What is held whole, beside whatever is large beside the limit, does not depend on the slices. */
static void note_hopeless(search *s, int64_t whole_bytes) {
  if (!s->thorough && s->share == TUNED_SMALL_SHARE)
    s->shares_are_hopeless = whole_bytes > s->target;
}

/* What a trip has beside what is kept is not known before all is split: checkpoints that came out
 * too large are told to leave more, first as if all of them were there at the same time. */
static bool spares_more(search *s, const split_order *order) {
  if (s->manner != DEEPER || !order || !order->n_checkpoints || s->spared == MOST_SPARED ||
      order->peak_bytes <= s->target)
    return false;
  s->spared++;
  int64_t over = order->peak_bytes - s->target,
          share = s->spared < MOST_SPARED ? ceil_div(over, order->n_checkpoints) : over,
          unused = max64(0, order->deep_bytes - order->kept_bytes);
  s->spare_bytes = saturated_sum(s->spare_bytes, saturated_sum(unused, share));
  return true;
}

/* Shorter slices than these are no help where what stages put out leaves them no room. */
static void note_cuts(search *s, const split_order *order, int64_t slice_bytes) {
  bool is_shorter = s->slice_bytes < slice_bytes && s->slice_bytes < TUNED_CUT_SLICE;
  if (order && order->has_cuts && is_shorter && s->cut_sixteenths > FEWER_CUTS)
    s->cut_sixteenths -= FEWER_CUTS;
}

/* order: what became of the last one; NULL: nothing is known of it. */
static void next_candidate(search *s, const split_order *order) {
  int64_t slice_bytes = s->slice_bytes;
  bool only_kernels = order && order->only_kernels;
  if (spares_more(s, order)) return;
  s->spare_bytes = s->spared = 0;
  if (s->manner == BY_SIZE) shrink_slices(s);
  else if (s->share < TUNED_SMALL_SHARE) s->share = TUNED_SMALL_SHARE;
  else if (only_kernels) s->slice_bytes = 0; /* none is small enough */
  else if (!s->thorough && (s->slice_bytes < s->target / s->share || s->hold_bytes < s->limit))
    s->thorough = true;
  else if (s->manner == SORTED && order) shrink_sorted(s, order);
  else shrink_slices(s);
  note_cuts(s, order, slice_bytes);
}

void search_shrink(search *s) { next_candidate(s, NULL); }

/* As predicted; what makes values anew may take more work than it is worth. */
static bool takes_too_long(const job *j, search *s, ir_module *m, const split_order *order) {
  const weir_summary *known = &j->result->summary;
  if (s->manner == SORTED && known->time_before_ns > 0) {
    if (plan_time_ns(m, &j->machine) / MOST_SORTING > (double)known->time_before_ns) return true;
  } else if (s->manner != BY_PEAK && plan_flops(m) / MOST_EXTRA_WORK > known->flops_before) {
    return true;
  }
  if (s->most_time_ns > 0 && (double)order->time_ns > s->most_time_ns) return s->is_over = true;
  double ns = s->part_bytes ? order->time_ns : plan_time_ns(m, &j->machine);
  double most_ns = s->part_bytes && !order->n_kernels ? s->most_xla_ns : s->most_ns;
  if (s->part_bytes)
    ctx_log(&j->c, 3, "in fewer passes: %.3g ms, at most %.3g wanted", ns / 1e6, most_ns / 1e6);
  if (most_ns == 0 || ns <= most_ns) return false;
  s->is_over = true; /* smaller slices take longer */
  return true;
}

/* The estimate of temporaries was this far off; arguments and results are every candidate's. The
 * next one is another: smaller by the estimate, too, even where that is low. That XLA needs more
 * for the program as it is says nothing about its parts. */
static void tighten(search *s, const split_order *order, const verdict *needs) {
  assert(needs->is_xlas && needs->peak > s->limit && needs->peak >= needs->held);
  double held = (double)needs->held * s->devices, room = (double)(s->limit - needs->held),
         ratio = room > 0 ? room / (double)(needs->peak - needs->held) * 0.98 : 0;
  int64_t scaled = (int64_t)(held + ((double)s->target - held) * ratio),
          below = order->peak_bytes - order->peak_bytes / 50 - 1;
  s->target = scaled < below && order->loops ? scaled : below;
  if (s->target < 1) s->target = 1;
  s->shares_are_hopeless = false;
}

/* Of candidates with kernels once: then they are what it is too much with, and what follows, from
 * the start, has none. */
static bool tightens(const search *s, const verdict *needs) {
  return needs->is_xlas && s->target >= of_all(s->limit, s->devices);
}

/* What XLA has said of a candidate. fits: by estimate. */
static void note_report(search *s, int64_t estimate, bool fits, int64_t reported) {
  if (!s->reported || reported < s->reported) {
    s->reported = reported;
    s->reported_at = (place){s->slice_bytes, s->manner};
  }
  if (!fits && (!s->doubted || estimate < s->doubted)) s->doubted = estimate;
  double off = fabs((double)(reported - estimate));
  if (reported > s->enough && off <= TUNED_AS_ESTIMATED * (double)estimate) s->doubts = DISPELLED;
}

/* What is made before whiles may be what it is over the limit by. */
static bool is_too_much_with_hoisting(const search *s, const split_order *order,
                                      const verdict *needs) {
  return needs->is_xlas && order->hoisted_bytes && needs->peak - order->hoisted_bytes <= s->limit;
}

/* The same candidate once more, with nothing made before whiles. It counts as one. */
static void keep_in_whiles(search *s) {
  s->no_hoisting = true;
  s->is_over = false;
  s->candidates--;
  if (s->most_compiles) s->most_compiles++;
}

static void note_least(search *s, int64_t peak_bytes) {
  if (peak_bytes >= s->seen.least) return;
  s->seen.least = peak_bytes;
  s->seen.at_least = (place){s->slice_bytes, s->manner};
}

static bool is_out_of_ops(const int64_t *left) { return left && *left <= 0; }

/* Where it is asked for. before: the candidate. One that was cut short by the end of the search is
 * no other's. */
static void note_best(job *j, search *s, ir_module *m, const split_order *order,
                      const search *before) {
  bool is_whole = m && order->peak_bytes && !is_out_of_ops(s->left_ops);
  if (!is_whole || order->peak_bytes >= s->seen.best_peak || takes_too_long(j, s, m, order)) return;
  if (!s->seen.best) s->seen.best = ARENA_NEW(arena_create(&j->c), search);
  *s->seen.best = *before;
  s->seen.best_peak = order->peak_bytes;
}

/* A candidate does not hold. fits: by the estimate it does. */
static void narrow(search *s, const split_order *order, bool fits, const verdict *needs) {
  if (is_too_much_with_hoisting(s, order, needs)) keep_in_whiles(s);
  else if (fits && order->n_kernels && !tightens(s, needs)) s->is_over = true;
  else if (fits && needs->is_xlas) tighten(s, order, needs);
  else if (fits) shrink_slices(s); /* XLA may have had too little memory */
  else {
    note_hopeless(s, order->whole_bytes);
    next_candidate(s, order);
  }
}

/* Nothing is split or written, and the estimate is no less than that of the program as it came, of
 * which XLA has said that it does not hold, in this order: it is not asked to say so again. */
static bool is_as_it_came(const job *j, const search *s, const split_order *order, verdict *out) {
  const ordered_report *known = &j->said;
  bool is_changed = order->loops || order->is_written || order->hoisted_bytes || order->n_kernels,
       is_over = known->peak_bytes > max64(s->limit, s->enough);
  if (is_changed || !is_over || s->devices > 1 || order->peak_bytes < known->estimate_bytes)
    return false;
  *out = (verdict){.peak = known->peak_bytes, .held = known->held_bytes, .is_xlas = true};
  return true;
}

/* left_ops: NULL, or the search's. */
static weir_status try_candidate(job *j, search *s, int64_t *left_ops) {
  search first = *s;
  split_order order;
  ir_module *m;
  int64_t looked_at = j->c.looked_at;
  CTX_CHECK(&j->c, !s->found.m && s->slice_bytes > 0 && s->target > 0);
  CTX_CHECK(&j->c, !left_ops || left_ops == s->left_ops);
  s->is_over = ++s->candidates == s->most_candidates;
  WEIR_TRY(split_copy(j, s, left_ops, &order, &m));
  charge(j, looked_at, left_ops);
  if (m) made_before_note(j, &first, &order, left_ops);
  CTX_CHECK(&j->c, order.peak_bytes >= 0 && (m || order.peak_bytes > order.asked_bytes));
  s->added_bytes = max64(s->added_bytes, order.added_bytes);
  s->moved_bytes = max64(s->moved_bytes, order.moved_bytes);
  s->keeps_trips |= order.keeps_trips;
  s->lacks_phases |= order.lacks_phases;
  s->spurns_kernels |= order.spurns_kernels;
  note_least(s, order.peak_bytes);
  note_best(j, s, m, &order, &first);
  bool may_hold = order.peak_bytes <= order.asked_bytes && !takes_too_long(j, s, m, &order),
       is_under = s->enough > s->limit ? may_hold : order.fits,
       fits = is_under && may_hold; /* by estimate */
  verdict needs = {.peak = order.peak_bytes};
  bool is_asked = may_hold && !is_as_it_came(j, s, &order, &needs);
  if (is_asked && may_ask(j, s)) m = compacted(m, &order);
  looked_at = j->c.looked_at;
  if (is_asked && can_ask(j, s)) needs = judge_candidate(j, s, m, order.peak_bytes, fits);
  charge(j, looked_at, left_ops);
  if (is_asked && fits && s->asks_later) s->compiles++;
  CTX_CHECK(&j->c, s->seen.least <= order.peak_bytes); /* what a refusal names was seen */
  if (needs.is_xlas) note_report(s, order.peak_bytes, fits, needs.peak);
  bool holds = (needs.is_xlas || (fits && !can_ask(j, s))) && needs.peak <= s->enough;
  if (holds) s->found = candidate_of_order(m, &order, needs);
  else if (m) ir_module_destroy(m);
  if (holds) s->found.in_functions = s->in_functions;
  else narrow(s, &order, fits, &needs);
  return WEIR_OK;
}

weir_status search_try(job *j, search *s) { return try_candidate(j, s, s->left_ops); }

weir_status search_again(job *j, search *s) { return try_candidate(j, s, NULL); }

bool search_goes_on(search *s) {
  bool may = !s->found.m && !s->is_over && s->slice_bytes >= LEAST_SLICE_BYTES &&
             (!s->most_compiles || s->compiles < s->most_compiles) && s->refusals < MOST_REFUSALS;
  s->was_stopped |= may && is_out_of_ops(s->left_ops);
  return may && !s->was_stopped;
}

weir_status search_slices(job *j, search *s) {
  while (search_goes_on(s)) WEIR_TRY(search_try(j, s));
  return WEIR_OK;
}

static void keep_seen(search *s, const search *from) {
  s->reported = from->reported;
  s->reported_at = from->reported_at;
  s->seen = from->seen;
}

/* From the start, by other means: without what kernels ask for. */
static void start_again(search *s, const search *first) {
  search again = *first;
  again.compiles = s->compiles;
  again.refusals = s->refusals;
  again.refused = s->refused;
  again.doubted = s->doubted;
  again.doubts = s->doubts;
  keep_seen(&again, s);
  again.was_stopped = s->was_stopped;
  again.added_bytes = s->added_bytes;
  again.moved_bytes = s->moved_bytes;
  again.keeps_trips = s->keeps_trips;
  again.lacks_phases = s->lacks_phases;
  again.spurns_kernels = s->spurns_kernels;
  again.no_kernels = true;
  *s = again;
}

bool search_has(const search *s, ir_kind kind) {
  for (ir_walk w = ir_walk_block(s->from, ir_top(s->from)); ir_next(&w);)
    if (ir_kind_of(s->from, w.op) == kind) return true;
  return false;
}

bool search_has_scans(const job *j, const search *s) {
  bool is_spread = s->devices > 1 || split_spread_of(s->from) == SPLIT_SHARDED;
  if (is_spread || !pass_is_on(&j->driver, "steps")) return false;
  for (ir_walk w = ir_walk_block(s->from, ir_top(s->from)); ir_next(&w);)
    if (ir_kind_of(s->from, w.op) == IR_OP_WHILE && split_has_chunks(s->from, w.op)) return true;
  return false;
}

/* Whether candidates made this way may be others than those before, and hold. */
static bool has_manner(const job *j, const search *s, manner by) {
  if (s->manners && !(s->manners >> by & 1)) return false;
  if (by == WRITTEN_OVER) return search_has(s, IR_OP_WHILE);
  if (by == MASKS_APART) return search_has(s, IR_OP_IOTA);
  if (by == BY_STEPS) return search_has_scans(j, s);
  int64_t in_blocks = saturated_sum(s->added_bytes, s->moved_bytes);
  if (adds_in_blocks(by)) return in_blocks && s->seen.least - in_blocks <= s->target;
  if (by == IN_TURNS) return s->lacks_phases;
  if (by == DEEPER) return s->keeps_trips;
  if (by != OUTSIDE && by != SORTED) return true;
  return search_has(s, by == OUTSIDE ? IR_OP_WHILE : IR_OP_SORT);
}

static const char *const manner_names[] = {[BY_PEAK] = "what holds the peak",
                                           [WRITTEN_OVER] = "states written over",
                                           [MASKS_APART] = "a mask for each that reads it",
                                           [BY_STEPS] = "scans in slices of their steps",
                                           [NESTED] = "values made anew in each trip",
                                           [BY_SIZE] = "whatever is large",
                                           [BY_FIT] = "slices that fit before all",
                                           [IN_TURNS] = "scans in slices, in turns",
                                           [OUTSIDE] = "outer whiles first",
                                           [IN_BLOCKS] = "sums added block by block",
                                           [ANEW_IN_BLOCKS] = "sums in blocks, values anew",
                                           [DEEPER] = "segments in segments",
                                           [SORTED] = "sorts slice by slice",
                                           [SEGMENTS] = "segments before slices"};

/* Nothing else: what follows is without them. */
static bool wants_kernels(const search *s) { return s->kernels == KERNELS_WORTH_A_TRY; }

weir_status search_by_peak(job *j, search *s) {
  search first = *s;
  WEIR_TRY(search_slices(j, s));
  if (s->found.m || first.no_kernels || wants_kernels(s)) return WEIR_OK;
  start_again(s, &first);
  return search_slices(j, s);
}

/* If nothing holds, all is as it was but for the least that was seen: what follows looks as far as
 * if there were no blocks. */
static weir_status search_in_blocks(job *j, search *s) {
  search before = *s;
  int64_t searched_ops = j->searched_ops, left_ops = *s->left_ops;
  if (s->most_compiles) s->most_compiles = s->compiles + COMPILES_IN_BLOCKS;
  WEIR_TRY(search_slices(j, s));
  if (s->found.m) return WEIR_OK;
  before.was_stopped = s->was_stopped;
  before.seen = s->seen;
  *s = before;
  j->searched_ops = searched_ops;
  *s->left_ops = left_ops;
  return WEIR_OK;
}

static weir_status search_confirmed(job *j, search *s) {
  search first = *s;
  if (has_manner(j, s, BY_PEAK)) WEIR_TRY(search_by_peak(j, s));
  for (manner by = WRITTEN_OVER; !s->found.m && !wants_kernels(s) && by <= SORTED; by++) {
    if (!has_manner(j, s, by)) continue;
    start_again(s, &first);
    s->manner = by;
    ctx_log(&j->c, 2, "nothing holds: %s", manner_names[by]);
    WEIR_TRY(adds_in_blocks(by) ? search_in_blocks(j, s) : search_slices(j, s));
  }
  return WEIR_OK;
}

/* s: has ended. Where the least estimate of all is no candidate's in doubt, there is none. */
static bool has_doubts(const job *j, const search *s, const search *first) {
  search again = *first;
  again.asks_later = false;
  again.doubts = ASKED;
  again.doubted = s->doubted;
  return s->doubts == UNASKED && may_ask(j, s) && s->seen.least <= asked_bytes(j, &again);
}

weir_status search_all(job *j, search *s) {
  search first = *s;
  WEIR_TRY(search_confirmed(j, s));
  if (!s->found.m && !s->was_stopped && has_doubts(j, s, &first)) {
    start_again(s, &first);
    s->no_kernels = first.no_kernels;
    s->asks_later = false;
    s->doubts = ASKED;
    s->most_compiles = s->compiles + first.most_compiles / 2;
    WEIR_TRY(search_confirmed(j, s));
  }
  if (s->found.m || !s->refused) return WEIR_OK;
  search again = *s->refused;
  again.most_compiles = 0;
  keep_seen(&again, s);
  *s = again;
  return search_again(j, s);
}

weir_status search_near(job *j, search *s, const place *start) {
  s->manner = start->manner;
  while (s->slice_bytes / 2 > start->slice_bytes) search_shrink(s);
  int64_t slice_bytes = s->slice_bytes;
  while (search_goes_on(s) && s->slice_bytes == slice_bytes) WEIR_TRY(search_try(j, s));
  return WEIR_OK;
}
