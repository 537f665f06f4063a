/* The ladder: from "untouched" to "refused", stopping at the first rung that holds the limit.
 *
 *   0  every temporary together is under the limit              -> untouched, nothing spent
 *   1  XLA's honest report of the program as it is              -> the same program, honest options
 *   2  the same under the memory-optimised schedule             -> the same program, those options;
 *                                        split in its own order, if that holds and is faster
 *   2b the same with what XLA makes again and again written   -> rewritten; split, if faster
 *   3  split, estimate, ask XLA; tighten what is too large      -> rewritten
 *   3b the same as kernels that are predicted to gain too little -> rewritten
 *   4  XLA's report of what looked hopeless by estimate          -> the same program, those options
 *   5  RESOURCE_EXHAUSTED with what stands in the way, and the smallest limit that would have held;
 *      a split that this search comes to and that holds the limit   -> rewritten
 *
 * Without a referee weir's own estimate decides. XLA's report is honest on CPU only without YNN
 * fusions, whose scratch it does not see; loop-invariant code motion is off in what we rewrote
 * because it keeps what it hoists (docs/design/loop-emission-facts.md).
 */
#include "limit/ladder.h"

#include "ir/calls.h"
#include "limit/as_is.h"
#include "limit/beside.h"
#include "limit/faster.h"
#include "limit/fastest.h"
#include "limit/minimum.h"
#include "limit/referee.h"
#include "limit/refusal.h"
#include "limit/result.h"
#include "limit/witness.h"
#include "machine/tuned.h"
#include "plan/cost.h"
#include "plan/peak.h"
#include "base/ints.h"
#include "base/saturate.h"

enum {
  MOST_FASTER = 8,            /* limits tried, each twice the one before */
  MOST_SEARCHED_OPS = 200000, /* of all candidates: then no further limit is tried */
};

static climb untouched(const job *j, int64_t peak) {
  return climb_to(WEIR_UNTOUCHED,
                  candidate_as_it_came(j, PLAN_ORDER_PROGRAM, (verdict){.peak = peak}));
}

/* Rung 0. */
static bool holds_for_sure(const job *j, int64_t *out_bound) {
  int64_t limit = j->options.memory_limit_bytes;
  *out_bound = limit ? plan_upper_bound(j->m, machine_memory(&j->machine)) : 0;
  return !limit || *out_bound <= limit || ir_only_moves(j->m);
}

weir_status ladder_is_untouched(job *j, bool *out_is) {
  const weir_options *o = &j->options;
  bool is_trial = o->only_passes || o->stop_after || o->tensor_size_threshold_bytes;
  int64_t bound;
  *out_is = !is_trial && holds_for_sure(j, &bound);
  if (!*out_is) return WEIR_OK;
  climb c;
  j->is_asked_ahead = true;
  WEIR_TRY(as_is_hold(j, untouched(j, bound), &c));
  *out_is = c.outcome == WEIR_UNTOUCHED;
  return WEIR_OK;
}

/* ---- as a whole ---- */
weir_status ladder_prepare(job *j) {
  pipeline_changes changes;
  if (j->prepared) return WEIR_OK;
  j->prepared = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, PREPARE_FOR_A_SPLIT, j->options.memory_limit_bytes, j->prepared,
                            &changes));
  j->prepared = ir_module_compacted(j->prepared);
  j->was_needed = changes.needed;
  j->spread = split_spread_of(j->prepared);
  return WEIR_OK;
}

/* What XLA will shard can only be split by who knows how, and only XLA knows what that needs. */
static weir_status check_spread(job *j, split_spread spread, bool can_judge) {
  if (spread != SPLIT_SHARDED || (j->options.shardings_known && can_judge)) return WEIR_OK;
  return ctx_error(&j->c, WEIR_UNIMPLEMENTED,
                   "the program has values that XLA will shard over several devices, and does not "
                   "say how: it can only be split together with jax");
}

/* ---- split ---- */
/* By XLA, of the program as it came. Where the estimate is over the limit XLA's number mostly is,
 * too, and the program does not run: it is asked for its report first. What is sharded is compared
 * with the program as it came, which is compiled for that. */
static verdict judge_doubted(job *j, plan_order order, int64_t estimate) {
  int64_t limit = j->options.memory_limit_bytes;
  bool is_doubted = estimate > limit && split_spread_of(j->m) != SPLIT_SHARDED;
  verdict said = is_doubted ? referee_report_as_it_came(j, order) : (verdict){0};
  return said.peak > limit ? said : referee_judge_as_it_came(j, order);
}

/* No split holds. As it came it looked hopeless, or XLA was asked: it may fold what weir doesn't.
 */
static weir_status hold_or_refuse(job *j, int64_t peak, const search *failed, int64_t ordered,
                                  climb *out) {
  if (!ordered) {
    verdict needs = judge_doubted(j, PLAN_ORDER_MEMORY, INT64_MAX);
    if (needs.peak <= j->options.memory_limit_bytes) return as_is_hold_ordered(j, needs, out);
    ordered = needs.peak;
  }
  return refusal_make(j, (refusal){.failed = failed, .peak = peak, .ordered = ordered}, out);
}

/* A sharded program of which no split holds as each device's: split by its global shapes. */
static weir_status find_sharded(job *j, int64_t peak, candidate *out) {
  int64_t limit = j->options.memory_limit_bytes;
  *out = (candidate){0};
  if (j->spread == split_spread_of(j->m)) return WEIR_OK;
  WEIR_TRY(check_spread(j, SPLIT_SHARDED, j->options.referee));
  ir_module *sharded = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, PREPARE_SHARDED, limit, sharded, NULL));
  search s = search_spread(j, limit, fastest_devices(j, sharded, peak), MOST_COMPILES,
                           search_budget(j, 1));
  s.from = sharded;
  WEIR_TRY(search_all(j, &s));
  WEIR_TRY(faster_instead(j, &s));
  ctx_log(&j->c, 2, "no split of each device's part holds, %s of the global shapes",
          s.found.m ? "one" : "nor one");
  *out = s.found;
  search_done_with(j, sharded);
  return WEIR_OK;
}

/* *out: what was made for another limit and holds this one; its module is NULL: nothing. */
static weir_status find_witness(job *j, candidate *out) {
  int64_t limit = j->options.memory_limit_bytes;
  search s;
  *out = (candidate){0};
  if (j->spread == SPLIT_SHARDED) return WEIR_OK; /* the estimate can't tell */
  WEIR_TRY(witness_hold(j, limit, COMPILES_OF_WITNESSES, &s));
  if (!s.found.m) return WEIR_OK;
  s.limit = s.target = s.enough = limit;
  s.left_ops = search_budget(j, 1);
  WEIR_TRY(faster_instead(j, &s));
  *out = s.found;
  return WEIR_OK;
}

/* Nothing else holds: loops become kernels whatever they gain, if some were left alone for that. */
static weir_status find_slow_kernels(job *j, const search *failed, candidate *out) {
  *out = (candidate){0};
  if (!failed->spurns_kernels) return WEIR_OK;
  search s = search_under(j, j->options.memory_limit_bytes, PLAN_ORDER_MEMORY_UNHOISTED,
                          MOST_COMPILES, search_budget(j, 1));
  s.kernels = KERNELS_ALL;
  ctx_log(&j->c, 2, "nothing holds: kernels, whatever they gain");
  WEIR_TRY(search_slices(j, &s));
  WEIR_TRY(faster_instead(j, &s));
  *out = s.found;
  return WEIR_OK;
}

/* peak, ordered: of the program as it is, under either order; ordered 0: not known. */
static weir_status rewrite(job *j, int64_t peak, int64_t ordered, climb *out) {
  candidate found;
  search s;
  WEIR_TRY(ladder_prepare(j));
  WEIR_TRY(check_spread(j, j->spread, j->options.referee));
  WEIR_TRY(beside_split(j, peak, &s, &found));
  if (!found.m) WEIR_TRY(find_sharded(j, peak, &found));
  if (!found.m) WEIR_TRY(find_witness(j, &found));
  if (!found.m) WEIR_TRY(find_slow_kernels(j, &s, &found));
  CTX_CHECK(&j->c, !found.m || found.needs.peak <= j->options.memory_limit_bytes);
  if (!found.m) return hold_or_refuse(j, peak, &s, ordered, out);
  *out = climb_to(WEIR_REWRITTEN, found);
  return WEIR_OK;
}

/* ---- what nothing holds ---- */
/* Arguments and results, which are every candidate's, too: where XLA is asked, as far as its report
 * says the same. 0: not known. */
static int64_t held_for_sure(job *j, verdict is) {
  if (split_spread_of(j->m) == SPLIT_SHARDED) return 0; /* each device's part is XLA's to say */
  int64_t held = referee_held_throughout(j);
  return j->options.referee ? min64(held, is.held) : held;
}

/* is: of the program as it came; sure: over the limit. */
static weir_status refuse_below(job *j, verdict is, int64_t sure, climb *out) {
  int64_t limit = j->options.memory_limit_bytes;
  CTX_CHECK(&j->c, sure > limit && is.peak >= sure);
  WEIR_TRY(ladder_prepare(j));
  search none = search_for_limit(j, limit, 0, search_budget(j, 1));
  return refusal_make(j, (refusal){.failed = &none, .peak = is.peak, .sure = sure}, out);
}

/* Of the program as it came, by estimate. What XLA will shard is not known. */
static bool is_far(const job *j, int64_t peak) {
  return (double)peak > TUNED_FAR * (double)j->options.memory_limit_bytes &&
         split_spread_of(j->m) != SPLIT_SHARDED;
}

/* Of the program as it came, in its own order. What is far from the limit is not compiled to say by
 * how much: that would take as long, and as much memory, as all that stock XLA does. Where the
 * arguments alone are over it, XLA is asked, for the message. */
static verdict judge_as_it_came(job *j) {
  verdict is = {.peak = referee_estimate(j, j->m, PLAN_ORDER_PROGRAM)};
  bool is_known = is_far(j, is.peak) && referee_held_throughout(j) <= j->options.memory_limit_bytes;
  return is_known ? is : judge_doubted(j, PLAN_ORDER_PROGRAM, is.peak);
}

/* The estimate of the order that saves memory, as if it were as low as that of the program's own.
 */
static int64_t as_low(job *j, verdict is, int64_t estimate) {
  double own = (double)referee_estimate(j, j->m, PLAN_ORDER_PROGRAM), off = (double)is.peak / own;
  return is.is_xlas && off > 1 ? saturated_int((double)estimate * off) : estimate;
}

/* What the program comes to in the order that saves memory. is: in its own; *in_out: by estimate,
 * of which XLA is not asked if it is far from the limit. Whether more is known than that estimate.
 */
static bool judge_ordered(job *j, verdict is, verdict *in_out) {
  bool has_orders = referee_has_orders(j);
  if (!has_orders) *in_out = is;
  bool far = is_far(j, in_out->peak);
  int64_t estimate = in_out->peak;
  if (has_orders && !far) *in_out = judge_doubted(j, PLAN_ORDER_MEMORY, as_low(j, is, estimate));
  if (in_out->is_xlas) j->said = (ordered_report){estimate, in_out->peak, in_out->held};
  return !far || in_out->is_xlas || !j->options.referee;
}

static weir_status hold_limit(job *j, climb *out) {
  int64_t limit = j->options.memory_limit_bytes, bound;
  if (holds_for_sure(j, &bound)) return as_is_hold(j, untouched(j, bound), out);
  verdict ordered = {.peak = referee_estimate(j, j->m, PLAN_ORDER_MEMORY)};
  verdict is = judge_as_it_came(j);
  j->result->summary.peak_before_bytes = is.peak;
  j->result->summary.before_is_estimate = !is.is_xlas;
  candidate as_is = candidate_as_it_came(j, PLAN_ORDER_PROGRAM, is);
  if (is.peak <= limit) return as_is_hold(j, climb_to(WEIR_OPTIONS_ONLY, as_is), out);
  int64_t sure = held_for_sure(j, is);
  if (sure > limit) return refuse_below(j, is, sure, out);
  bool known = judge_ordered(j, is, &ordered);
  if (known && ordered.peak <= limit) return as_is_hold_ordered(j, ordered, out);
  bool holds_written;
  WEIR_TRY(as_is_hold_written(j, &holds_written, out));
  if (holds_written) return WEIR_OK;
  return rewrite(j, is.peak, known ? ordered.peak : 0, out);
}

/* The smallest limit that the program as it came holds, under either order. */
static int64_t least_as_is(job *j) {
  int64_t program = referee_judge_as_it_came(j, PLAN_ORDER_PROGRAM).peak;
  if (!referee_has_orders(j)) return program;
  return min64(referee_judge_as_it_came(j, PLAN_ORDER_MEMORY).peak, program);
}

/* Of more the search takes minutes, for a number beside others. */
enum { MOST_OPS_OF_A_MINIMUM = 10000 };

/* Of a program that holds its limit, or has none. */
static weir_status add_minimum(job *j) {
  WEIR_TRY(ladder_prepare(j));
  if (j->spread == SPLIT_SHARDED) return WEIR_OK; /* the estimate can't tell */
  if (ir_count_below(j->prepared, j->prepared->root) > MOST_OPS_OF_A_MINIMUM) return WEIR_OK;
  int64_t high = least_as_is(j), low = referee_held_throughout(j),
          limit = j->options.memory_limit_bytes;
  if (limit && limit < high) high = limit;
  minimum found = {.limit = high, .low = low > 1 ? low - 1 : 1, .left_ops = search_budget(j, 1)};
  if (found.low < high) WEIR_TRY(minimum_climb(j, &found));
  WEIR_TRY(minimum_find(j, &found));
  j->result->summary.minimum_bytes = found.limit;
  if (found.m) ir_module_destroy(found.m);
  return WEIR_OK;
}

/* ---- the paper's mode ---- */
static split_order threshold_order(const job *j) {
  int64_t threshold = j->options.tensor_size_threshold_bytes,
          slice = j->options.tensor_split_size_bytes;
  if (!slice) slice = threshold;
  split_goal goal = search_goal_of_sizes(threshold, slice);
  goal.may_sort = true;
  return (split_order){.order = PLAN_ORDER_MEMORY_UNHOISTED,
                       .goal = goal,
                       .no_kernels = j->options.tile == WEIR_TILE_OFF || !threshold};
}

/* Above the threshold; or the passes that are named, whatever they find. */
static weir_status run_once(job *j, bool by_name, climb *out) {
  split_order order = threshold_order(j);
  ir_module *m = ir_module_clone(j->m), *split;
  pipeline_changes changes;
  WEIR_TRY(pipeline_prepare(j, PREPARE_FOR_A_SPLIT, j->options.memory_limit_bytes, m, &changes));
  if (!by_name) WEIR_TRY(check_spread(j, split_spread_of(m), true));
  WEIR_TRY(pipeline_split_copy(j, m, &order, &split));
  ir_module_destroy(m);
  bool is_changed = order.loops || changes.replaced;
  *out = by_name || is_changed ? climb_to(by_name ? WEIR_UNTOUCHED : WEIR_REWRITTEN,
                                          candidate_of_order(split, &order, (verdict){0}))
                               : untouched(j, 0);
  return WEIR_OK;
}

/* ---- a limit that costs much time ---- */
/* *out_is: a split under the limit, by estimate, is predicted to be fast enough. */
static weir_status is_fast_under(job *j, int64_t limit, int64_t *left_ops, bool *out_is) {
  search s = search_for_limit(j, limit, 0, left_ops);
  WEIR_TRY(search_all(j, &s));
  ir_module *m = s.found.m;
  *out_is = m && plan_time_ns(m, &j->machine) <=
                     TUNED_SLOW_PLAN * (double)j->result->summary.time_before_ns;
  if (m) ir_module_destroy(m);
  return WEIR_OK;
}

/* Of a program that is split to hold its limit: where that is predicted to be slow, which limit
 * would not be. The one that it holds as it came is fast in any case. */
static weir_status find_faster_limit(job *j, const climb *c) {
  weir_summary *s = &j->result->summary;
  bool is_fast = c->taken.time_ns <= TUNED_SLOW_PLAN * (double)s->time_before_ns, found = false;
  if (!j->prepared || !c->taken.m || is_fast) return WEIR_OK;
  int64_t limit = s->limit_bytes, high = s->peak_before_bytes,
          *left_ops = search_budget(j, MINIMUMS_SHARE);
  for (int i = 0; i < MOST_FASTER && !found && j->searched_ops < MOST_SEARCHED_OPS; i++) {
    limit = limit < high / 2 ? limit * 2 : high;
    found = limit >= high;
    if (!found) WEIR_TRY(is_fast_under(j, limit, left_ops, &found));
  }
  s->faster_limit_bytes = found ? limit : high;
  return WEIR_OK;
}

static weir_status take(job *j, climb *out) {
  if (j->options.only_passes || j->options.stop_after) return run_once(j, true, out);
  if (j->options.memory_limit_bytes) {
    WEIR_TRY(hold_limit(j, out));
    return find_faster_limit(j, out);
  }
  if (j->options.tensor_size_threshold_bytes) return run_once(j, false, out);
  return as_is_hold(j, untouched(j, 0), out);
}

/* What bench/experiments/rates.py compares with what XLA takes. */
static weir_status log_stock_time(job *j) {
  if (j->options.debug < 4) return WEIR_OK;
  ir_module *exact = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, PREPARE_AS_IT_CAME, j->options.memory_limit_bytes, exact, NULL));
  ctx_log(&j->c, 4, "as it came: %.4g ms predicted", plan_stock_time_ns(exact, &j->machine) / 1e6);
  ir_module_destroy(exact);
  return WEIR_OK;
}

weir_status ladder_climb(job *j, climb *out) {
  weir_summary *s = &j->result->summary;
  *out = (climb){0};
  s->limit_bytes = j->options.memory_limit_bytes;
  s->before_is_estimate = s->after_is_estimate = true;
  if (!j->is_vast) {
    s->flops_before = s->flops_after = plan_flops(j->m);
    s->time_before_ns = s->time_after_ns =
        saturated_int(plan_time_as_it_came_ns(j->m, &j->machine));
    WEIR_TRY(log_stock_time(j));
  }
  WEIR_TRY(take(j, out));
  WEIR_TRY(candidate_accept(j, out));
  return j->options.minimum == WEIR_MINIMUM_ALWAYS ? add_minimum(j) : WEIR_OK;
}
