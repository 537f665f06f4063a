/* The ladder: from "untouched" to "refused", stopping at the first rung that holds the limit.
 *
 *   0  every temporary together is under the limit              -> untouched, nothing spent
 *   1  XLA's honest report of the program as it is              -> the same program, honest options
 *   2  the same under the memory-optimised schedule             -> the same program, those options
 *   3  split, estimate, ask XLA; tighten what is too large      -> rewritten
 *   5  RESOURCE_EXHAUSTED with what stands in the way, and the smallest limit that would have held
 *
 * Without a referee weir's own estimate decides. XLA's report is honest on CPU only without YNN
 * fusions, whose scratch it does not see; loop-invariant code motion is off in what we rewrote
 * because it keeps what it hoists (docs/design/loop-emission-facts.md).
 */
#include <math.h>

#include "fit.h"
#include "out/out.h"
#include "pipeline.h"
#include "plan/cost.h"
#include "plan/explain.h"
#include "plan/peak.h"
#include "report.h"
#include "result.h"

enum {
  MOST_COMPILES = 8,
  COMPILES_FOR_SPEED = 2,
  MOST_EXTRA_WORK = 10, /* times the operations of the program: more is as good as refused */
  MOST_BLOCKERS = 5,    /* rows of a refusal */
  MOST_PROBES = 40,     /* splits without XLA, to find the smallest limit */
  MOST_SEARCHED_OPS =
      200000,       /* of all candidates so far: then the smallest limit is left at what is known */
  CLIMBS_SHARE = 4, /* but at least so much of what the climb took is for its search */
  MOST_CONFIRMATIONS = 3,  /* of it by XLA */
  COMPILES_TO_CONFIRM = 2, /* in each */
};

static const int64_t FIRST_SLICE_BYTES =
    8 << 20; /* flat optimum on CPU: docs/design/loop-emission-facts.md, section 6 */
static const int64_t CACHED_SLICE_BYTES = 1 << 20; /* where nothing but a GEMM wants longer ones */
static const int64_t COARSE_SLICE_BYTES = 1 << 20; /* below, time depends little on the slice */
static const int64_t LEAST_SLICE_BYTES = 1 << 10;
static const int64_t GENEROUS = 8; /* times the slice, for 128 rows */
static const int64_t HOPELESS =
    2; /* an estimate this many times the limit is not worth an XLA compile to confirm */
static const double WORTH_A_SPLIT =
    1.3; /* gain in speed of a program that holds its limit as it is */
static const int64_t FIRST_SHARE = 8,
                     LAST_SHARE = 32; /* values above limit / share are dissolved */

/* What XLA is told so that it runs a program in an order. YNN does products one by one: fused with
 * others they take scratch that no report shows; left to Eigen they pack whole operands, which none
 * shows either, and take twice the time in f64 (bench/experiments/products.py). */
static const struct {
  bool by_memory, unhoisted; /* for such orders only */
  const char *option;
} cpu_options[] = {
    {false, false, "xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"},
    {true, false, "xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},
    {false, true, "xla_disable_hlo_passes=while-loop-invariant-code-motion"},
    {false, true, "xla_cpu_prefer_vector_width=512"}, /* slices are in cache: 5 to 15 % faster */
};

static void set_order(job *j, plan_order order) {
  size_t n = strcmp(j->options.platform, "cpu") ? 0 : sizeof cpu_options / sizeof *cpu_options,
         count = 0;
  bool by_memory = plan_is_by_memory(order), unhoisted = !plan_hoists(order);
  memset(j->result->compile_options, 0, sizeof j->result->compile_options);
  for (size_t i = 0; i < n; i++)
    if (cpu_options[i].by_memory <= by_memory && cpu_options[i].unhoisted <= unhoisted)
      j->result->compile_options[count++] = cpu_options[i].option;
  j->order = order;
}

static int64_t total_of(const weir_memory *m) {
  return m->argument_bytes + m->output_bytes - m->alias_bytes + m->temp_bytes;
}

/* XLA's total for the candidate under the options of the result; false if there is no referee or it
 * did not compile. text NULL: as it came in. */
static bool ask_referee(job *j, const char *text, size_t length, int64_t *out_total) {
  if (!j->options.referee) return false;
  weir_memory memory = {0};
  j->result->summary.referee_compiles++;
  if (j->options.referee(j->options.referee_user, text, length, j->result->compile_options,
                         &memory))
    return false;
  *out_total = total_of(&memory);
  ctx_log(&j->c, 2,
          "XLA reports %lld bytes (arguments %lld, outputs %lld, aliased %lld, temporaries %lld)",
          (long long)*out_total, (long long)memory.argument_bytes, (long long)memory.output_bytes,
          (long long)memory.alias_bytes, (long long)memory.temp_bytes);
  return true;
}

static bool ask_about(job *j, const ir_module *m, int64_t *out_total) {
  arena *a = arena_create(&j->c);
  strbuf text = strbuf_make(a);
  out_stablehlo_text(m, &text);
  bool answered = ask_referee(j, text.text, text.length, out_total);
  arena_destroy(a);
  return answered;
}

static int64_t estimate(job *j, const ir_module *m, plan_order order) {
  arena *a = arena_create(&j->c);
  int64_t total = plan_peak_of(a, m, order).total_bytes;
  arena_destroy(a);
  return total;
}

static weir_status accept(job *j, weir_outcome outcome, int64_t peak) {
  j->result->outcome = outcome;
  j->result->summary.peak_after_bytes = peak;
  return WEIR_OK;
}

/* ---- rungs 0 to 2: the program as it is ---- */
static bool holds_as_is(job *j, plan_order order, int64_t *out_peak) {
  set_order(j, order);
  if (!ask_referee(j, NULL, 0, out_peak)) *out_peak = estimate(j, j->m, order);
  return *out_peak <= j->options.memory_limit_bytes;
}

/* ---- what holds the limit as it is may be faster with kernels ---- */
/* By the judge that the program as it came had. *out_peak: XLA's number or the estimate; 0: nobody
 * asked. */
static bool holds_with_kernels(job *j, const ir_module *m, weir_outcome as_is, int64_t *out_peak) {
  int64_t limit = j->options.memory_limit_bytes;
  *out_peak = 0;
  if (as_is == WEIR_UNTOUCHED) return !limit || plan_upper_bound(m) <= limit;
  if (j->options.referee) return ask_about(j, m, out_peak) && *out_peak <= limit;
  *out_peak = estimate(j, m, j->order);
  return *out_peak <= limit;
}

/* The program holds its limit in the order that is set. */
static weir_status accept_as_is(job *j, weir_outcome as_is, int64_t peak) {
  ir_module *m;
  int64_t other;
  WEIR_TRY(fit_with_kernels(j, &m));
  if (m && holds_with_kernels(j, m, as_is, &other)) {
    j->rewritten = m;
    return accept(j, WEIR_REWRITTEN, other);
  }
  if (m) report_forget(j, m);
  return accept(j, as_is, peak);
}

weir_status ladder_is_untouched(job *j, bool *out_is) {
  int64_t limit = j->options.memory_limit_bytes;
  const weir_options *o = &j->options;
  bool is_trial = o->only_passes || o->stop_after || o->tensor_size_threshold_bytes;
  *out_is = !is_trial && (!limit || plan_upper_bound(j->m) <= limit);
  if (*out_is) WEIR_TRY(accept_as_is(j, WEIR_UNTOUCHED, 0));
  *out_is = *out_is && j->result->outcome == WEIR_UNTOUCHED;
  return WEIR_OK;
}

/* ---- rung 3 ---- */

/* What a candidate splits. */
typedef enum manner {
  BY_PEAK, /* what holds the peak, until the limit is held */
  NESTED,  /* likewise, with values made anew in each trip of a loop: costs time */
  BY_SIZE  /* whatever is larger than a slice: holds here and there what no holder leads to */
} manner;

/* Where in a search a candidate stands. */
typedef struct place {
  int64_t slice_bytes;
  manner manner;
} place;

/* Slices shrink; at each size first only what is large beside the limit is dissolved, then whatever
 * is larger than a slice. Likewise for each manner in turn. */
typedef struct search {
  int64_t limit, target, slice_bytes, share;
  int64_t hold_bytes; /* what is larger is not held for a while to read, but made anew inside it */
  bool thorough;
  manner manner;
  double most_ns; /* predicted, else nothing is worth it; 0: whatever it takes */
  bool no_tiles;  /* which have scratch of their own, and want slices of two at least */
  int32_t most_compiles,
      compiles;   /* to ask XLA, where there is a referee; 0: the estimate decides */
  int64_t peak;   /* out: of the module that holds the limit */
  int64_t least;  /* out: estimate of any candidate */
  place at_least; /* out: which it was */
} search;

/* Splits a copy of the program. Where some loops would be kernels and others not that have to make
 * values alike (split/alike.h): once more, without kernels. */
static weir_status split_alike(job *j, const ir_module *m, split_order *order, ir_module **out_m) {
  split_order asked = *order;
  *out_m = ir_module_clone(m);
  WEIR_TRY(pipeline_split(j, *out_m, order));
  if (!order->is_torn) return WEIR_OK;
  ctx_log(&j->c, 2, "kernels and loops would have to make the same sums alike");
  ir_module_destroy(*out_m);
  *order = asked;
  order->no_tiles = true;
  *out_m = ir_module_clone(m);
  return pipeline_split(j, *out_m, order);
}

static split_goal goal_of_sizes(int64_t threshold_bytes, int64_t slice_bytes) {
  return (split_goal){.threshold_bytes = threshold_bytes,
                      .hold_bytes = threshold_bytes,
                      .slice_bytes = slice_bytes,
                      .cached_bytes = slice_bytes,
                      .generous_bytes = slice_bytes};
}

static split_goal goal_of_holders(const search *s) {
  int64_t share = s->target / s->share, slice = s->slice_bytes;
  return (split_goal){.threshold_bytes = s->thorough && slice < share ? slice : share,
                      .hold_bytes = s->thorough ? s->hold_bytes : s->limit,
                      .slice_bytes = slice,
                      .cached_bytes = CACHED_SLICE_BYTES,
                      .generous_bytes = slice * GENEROUS,
                      .nest = s->manner == NESTED,
                      .is_materialised = plan_is_materialised};
}

/* Splits a copy of the prepared program; *out_m is the rewritten copy. */
static weir_status split_copy(job *j, const ir_module *prepared, const search *s,
                              split_order *order, ir_module **out_m) {
  bool by_size = s->manner == BY_SIZE;
  *order = (split_order){
      .order = j->order,
      .goal = by_size ? goal_of_sizes(s->slice_bytes, s->slice_bytes) : goal_of_holders(s),
      .by_size = by_size,
      .no_tiles = s->no_tiles,
      .limit_bytes = s->target};
  ir_module *m;
  WEIR_TRY(split_alike(j, prepared, order, &m));
  ctx_log(&j->c, 2, "slices of %lld bytes: estimated peak %lld, target %lld",
          (long long)s->slice_bytes, (long long)order->peak_bytes, (long long)s->target);
  j->searched_ops += prepared->ops.count + m->ops.count;
  *out_m = m;
  return WEIR_OK;
}

static search search_under(const job *j, int64_t limit, int32_t most_compiles) {
  int64_t slice_bytes = FIRST_SLICE_BYTES < limit / 8 ? FIRST_SLICE_BYTES : limit / 8;
  if (slice_bytes < LEAST_SLICE_BYTES) slice_bytes = LEAST_SLICE_BYTES;
  return (search){.limit = limit,
                  .target = limit,
                  .hold_bytes = limit,
                  .slice_bytes = slice_bytes,
                  .share = FIRST_SHARE,
                  .most_compiles = most_compiles,
                  .no_tiles = j->probing || j->options.tile == WEIR_TILE_OFF,
                  .least = INT64_MAX};
}

/* Of a sharded program the estimate says nothing: what XLA refuses doesn't fit. */
static int64_t peak_of_candidate(job *j, search *s, const ir_module *m, split_order *order) {
  int64_t peak = order->peak_bytes;
  if (!order->fits || !s->most_compiles) return peak;
  bool answered = ask_about(j, m, &peak);
  order->fits = answered || j->spread != SPLIT_SHARDED;
  s->compiles += answered || !order->fits;
  return peak;
}

static void shrink_slices(search *s) {
  int64_t step = s->slice_bytes > COARSE_SLICE_BYTES ? 2 : 4;
  bool is_last = s->slice_bytes > LEAST_SLICE_BYTES && s->slice_bytes / step < LEAST_SLICE_BYTES;
  s->slice_bytes = is_last ? LEAST_SLICE_BYTES : s->slice_bytes / step;
  s->hold_bytes /= step;
  s->thorough = false;
  s->share = FIRST_SHARE;
}

static void next_candidate(search *s, bool only_tiles) {
  if (s->manner == BY_SIZE) shrink_slices(s);
  else if (s->share < LAST_SHARE) s->share = LAST_SHARE;
  else if (only_tiles) s->slice_bytes = 0; /* none is small enough */
  else if (!s->thorough && (s->slice_bytes < s->target / s->share || s->hold_bytes < s->limit))
    s->thorough = true;
  else shrink_slices(s);
}

/* One candidate; *out_m if it holds. Else the search is narrowed. */
static weir_status try_candidate(job *j, const ir_module *prepared, search *s, ir_module **out_m) {
  split_order order;
  ir_module *m;
  WEIR_TRY(split_copy(j, prepared, s, &order, &m));
  if (order.peak_bytes < s->least) {
    s->least = order.peak_bytes;
    s->at_least = (place){s->slice_bytes, s->manner};
  }
  if (s->manner != BY_PEAK && plan_flops(m) / MOST_EXTRA_WORK > j->result->summary.flops_before)
    order.fits = false;
  if (s->most_ns > 0 && order.fits && (double)j->result->summary.time_after_ns > s->most_ns) {
    report_forget(j, m);
    s->slice_bytes = 0; /* smaller ones take longer */
    return WEIR_OK;
  }
  s->peak = peak_of_candidate(j, s, m, &order);
  if (order.fits && s->peak <= s->limit) {
    *out_m = m;
    return WEIR_OK;
  }
  ir_module_destroy(m);
  if (order.fits && order.n_tiles) s->no_tiles = true;
  else if (order.fits)
    s->target = (int64_t)((double)s->target * (double)s->limit / (double)s->peak * 0.98);
  else next_candidate(s, order.only_tiles);
  return WEIR_OK;
}

static weir_status try_slices(job *j, const ir_module *prepared, search *s, ir_module **out_m) {
  while (!*out_m && s->slice_bytes >= LEAST_SLICE_BYTES &&
         (!s->most_compiles || s->compiles < s->most_compiles))
    WEIR_TRY(try_candidate(j, prepared, s, out_m));
  return WEIR_OK;
}

/* From the start, by other means: without what tiles ask for. */
static void search_again(search *s, const search *first) {
  search again = *first;
  again.compiles = s->compiles;
  again.least = s->least;
  again.at_least = s->at_least;
  again.no_tiles = true;
  *s = again;
}

/* *out_m: NULL if nothing was found that holds. */
static weir_status split_until_it_holds(job *j, const ir_module *prepared, search *s,
                                        ir_module **out_m) {
  search first = *s;
  *out_m = NULL;
  WEIR_TRY(try_slices(j, prepared, s, out_m));
  if (!*out_m && !first.no_tiles) {
    search_again(s, &first);
    WEIR_TRY(try_slices(j, prepared, s, out_m));
  }
  if (*out_m) return WEIR_OK;
  for (manner by = NESTED; !*out_m && by <= BY_SIZE; by++) {
    search_again(s, &first);
    s->manner = by;
    WEIR_TRY(try_slices(j, prepared, s, out_m));
  }
  return WEIR_OK;
}

/* ---- the smallest limit that would have held ---- */
typedef struct minimum {
  int64_t limit; /* holds */
  int64_t low;   /* nothing as small holds */
  int64_t guess; /* may hold */
  place start;   /* of the guess, to try what is near it alone; slice_bytes 0: all is tried */
  ir_module *m;  /* what runs under the limit; NULL: the program as it came */
} minimum;

static void keep_found(minimum *found, int64_t limit, ir_module *m) {
  if (found->m) ir_module_destroy(found->m);
  found->limit = limit;
  found->m = m;
}

/* Only slices about as long as there. A search under the limit comes to them, too, unless it finds
 * something before. */
static weir_status try_near(job *j, const ir_module *prepared, search *s, const place *start,
                            ir_module **out_m) {
  s->manner = start->manner;
  while (s->slice_bytes / 2 > start->slice_bytes) next_candidate(s, false);
  int64_t slice_bytes = s->slice_bytes;
  while (!*out_m && s->slice_bytes == slice_bytes) WEIR_TRY(try_candidate(j, prepared, s, out_m));
  return WEIR_OK;
}

/* *out_peak: what it came to; 0: it does not hold. */
static weir_status try_limit(job *j, const ir_module *prepared, int64_t limit,
                             int32_t most_compiles, minimum *found, int64_t *out_peak) {
  search s = search_under(j, limit, most_compiles);
  ir_module *m = NULL;
  if (found->start.slice_bytes) WEIR_TRY(try_near(j, prepared, &s, &found->start, &m));
  else WEIR_TRY(split_until_it_holds(j, prepared, &s, &m));
  if (m) keep_found(found, limit, m);
  *out_peak = m ? s.peak : 0;
  return WEIR_OK;
}

/* By weir's estimate, until 1 % below the limit found does not hold. What a split under one limit
 * came to is the next guess: limits that hold need not lie side by side. */
static weir_status bisect_limit(job *j, const ir_module *prepared, int64_t most_ops,
                                minimum *found) {
  int64_t low = found->low, guess = found->guess;
  for (int probes = 0; probes < MOST_PROBES && j->searched_ops < most_ops; probes++) {
    int64_t high = found->limit, below = high - high / 100 - 1,
            middle = (int64_t)sqrt((double)low * (double)high), probe = below, peak;
    bool guesses = guess > found->low && guess < below;
    if (guesses) probe = guess;
    else if (below <= low) break;
    else if (middle > low && middle < below) probe = middle;
    WEIR_TRY(try_limit(j, prepared, probe, 0, found, &peak));
    guess = peak;
    if (peak) continue;
    if (!guesses && probe == below) break;
    if (!guesses) low = probe;
  }
  return WEIR_OK;
}

/* Where XLA can be asked, it has the last word on what the estimate found. high: holds, without XLA
 * being asked again. */
static weir_status confirm_limit(job *j, const ir_module *prepared, int64_t high, minimum *found) {
  for (int tries = 0; tries < MOST_CONFIRMATIONS && found->limit < high; tries++) {
    int64_t limit = found->limit, peak;
    WEIR_TRY(try_limit(j, prepared, limit, COMPILES_TO_CONFIRM, found, &peak));
    if (peak) break;
    bool again = tries + 1 < MOST_CONFIRMATIONS && limit < high - limit / 20;
    if (again) found->limit = limit + limit / 20;
    else keep_found(found, high, NULL);
  }
  return WEIR_OK;
}

/* found: in with a limit that holds and where to begin. First near the candidate that came to the
 * least, which is fast; then with all candidates of each limit, while the budget allows for one
 * more climb. The budget is at least a share of what the climb took. */
static weir_status find_minimum(job *j, const ir_module *prepared, minimum *found) {
  int64_t high = found->limit, climb_ops = j->searched_ops,
          most_ops = climb_ops + climb_ops / CLIMBS_SHARE;
  if (most_ops < MOST_SEARCHED_OPS) most_ops = MOST_SEARCHED_OPS;
  j->probing = true;
  if (found->start.slice_bytes) WEIR_TRY(bisect_limit(j, prepared, most_ops, found));
  found->start = (place){0};
  WEIR_TRY(bisect_limit(j, prepared, most_ops - climb_ops, found));
  if (j->options.referee) WEIR_TRY(confirm_limit(j, prepared, high, found));
  j->probing = false;
  return WEIR_OK;
}

/* ---- rung 5 ---- */
/* Who holds the peak at the smallest limit, and where in the source it comes from: what stands in
 * the way of less. */
static void put_blockers(const ir_module *prepared, const ir_module *m, strbuf *out) {
  const ir_module *shown = m ? m : prepared;
  plan_peak peak =
      plan_peak_of(out->arena, shown, m ? PLAN_ORDER_MEMORY_UNHOISTED : PLAN_ORDER_MEMORY);
  plan_explain_peak(shown, &peak, out, MOST_BLOCKERS);
  while (out->length && out->text[out->length - 1] == '\n') out->text[--out->length] = '\0';
}

static weir_status refuse_shortly(job *j, int64_t peak) {
  arena *a = arena_create(&j->c);
  int64_t limit = j->options.memory_limit_bytes;
  weir_status status = ctx_error(
      &j->c, WEIR_RESOURCE_EXHAUSTED, "the program needs %s, the limit is %lld bytes (%s)",
      plan_bytes_text(a, peak), (long long)limit, plan_bytes_text(a, limit));
  arena_destroy(a);
  return status;
}

/* Arguments and results: nothing holds less. */
static int64_t held_throughout(job *j) {
  arena *a = arena_create(&j->c);
  plan_peak peak = plan_peak_of(a, j->m, PLAN_ORDER_PROGRAM);
  arena_destroy(a);
  return peak.total_bytes - peak.temp_bytes;
}

/* failed: the climb; ordered: what the program comes to under the memory-optimised order, 0: nobody
 * has asked XLA yet. */
static weir_status refuse(job *j, const ir_module *prepared, int64_t peak, const search *failed,
                          int64_t ordered) {
  int64_t limit = j->options.memory_limit_bytes;
  j->refused = true;
  result_keep_loops(j->result, 0);
  if (j->options.minimum == WEIR_MINIMUM_NEVER || j->spread == SPLIT_SHARDED)
    return refuse_shortly(j, peak);
  arena *a = arena_create(&j->c);
  strbuf blockers = strbuf_make(a);
  int64_t held = held_throughout(j);
  if (!ordered) (void)holds_as_is(j, PLAN_ORDER_MEMORY, &ordered);
  set_order(j, PLAN_ORDER_MEMORY_UNHOISTED);
  minimum found = {.limit = ordered < peak ? ordered : peak,
                   .low = held > limit ? held - 1 : limit,
                   .guess = failed->least,
                   .start = failed->at_least};
  WEIR_TRY(find_minimum(j, prepared, &found));
  put_blockers(prepared, found.m, &blockers);
  int64_t least = j->result->summary.minimum_bytes = found.limit;
  weir_status status =
      ctx_error(&j->c, WEIR_RESOURCE_EXHAUSTED,
                "the program needs %s, the limit is %lld bytes (%s); the smallest limit found "
                "feasible is %lld bytes (%s), and there: %s",
                plan_bytes_text(a, peak), (long long)limit, plan_bytes_text(a, limit),
                (long long)least, plan_bytes_text(a, least), blockers.text);
  if (found.m) ir_module_destroy(found.m);
  arena_destroy(a);
  return status;
}

/* ---- as a whole ---- */
static weir_status prepare(job *j) {
  if (j->prepared) return WEIR_OK;
  j->prepared = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, j->prepared));
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

/* The limit in the estimate's measure, which for sharded programs is all devices'. */
static int64_t target_of(job *j, int64_t peak) {
  int64_t limit = j->options.memory_limit_bytes;
  if (j->spread != SPLIT_SHARDED) return limit;
  double all = (double)estimate(j, j->prepared, PLAN_ORDER_MEMORY) / (double)peak;
  return (int64_t)((double)limit * all) + 1;
}

/* peak, ordered: of the program as it is, under either order; ordered 0: not known. */
static weir_status rewrite(job *j, int64_t peak, int64_t ordered) {
  ir_module *m;
  WEIR_TRY(prepare(j));
  set_order(j, PLAN_ORDER_MEMORY_UNHOISTED);
  WEIR_TRY(check_spread(j, j->spread, j->options.referee));
  search s = search_under(j, j->options.memory_limit_bytes, MOST_COMPILES);
  s.target = target_of(j, peak);
  WEIR_TRY(split_until_it_holds(j, j->prepared, &s, &m));
  j->rewritten = m;
  return m ? accept(j, WEIR_REWRITTEN, s.peak) : refuse(j, j->prepared, peak, &s, ordered);
}

/* ---- held by the order alone ---- */
/* *out_m: slices that hold the limit in the program's order, too, and gain; else NULL. */
static weir_status split_for_speed(job *j, int64_t *out_peak, ir_module **out_m) {
  *out_m = NULL;
  WEIR_TRY(prepare(j));
  if (j->spread == SPLIT_SHARDED) return WEIR_OK;
  set_order(j, PLAN_ORDER_PROGRAM_UNHOISTED);
  search s = search_under(j, j->options.memory_limit_bytes, COMPILES_FOR_SPEED);
  s.most_ns = (double)j->result->summary.time_before_ns / WORTH_A_SPLIT;
  WEIR_TRY(try_slices(j, j->prepared, &s, out_m));
  *out_peak = s.peak;
  if (!*out_m) result_keep_loops(j->result, 0);
  return WEIR_OK;
}

/* XLA then runs what is independent one after the other, and out of cache: where slices are
 * predicted to be faster they are taken. */
static weir_status accept_ordered(job *j, int64_t peak) {
  ir_module *m;
  int64_t other;
  WEIR_TRY(accept_as_is(j, WEIR_OPTIONS_ONLY, peak));
  if (j->rewritten) return WEIR_OK;
  WEIR_TRY(split_for_speed(j, &other, &m));
  j->rewritten = m;
  if (m) return accept(j, WEIR_REWRITTEN, other);
  set_order(j, PLAN_ORDER_MEMORY);
  return WEIR_OK;
}

static weir_status hold_limit(job *j) {
  int64_t limit = j->options.memory_limit_bytes, peak, ordered;
  peak = plan_upper_bound(j->m);
  if (peak <= limit) return accept_as_is(j, WEIR_UNTOUCHED, peak);
  bool holds = holds_as_is(j, PLAN_ORDER_PROGRAM, &peak);
  j->result->summary.peak_before_bytes = peak;
  if (holds) return accept_as_is(j, WEIR_OPTIONS_ONLY, peak);
  ordered = estimate(j, j->m, PLAN_ORDER_MEMORY);
  bool hopeless = ordered / HOPELESS > limit && split_spread_of(j->m) != SPLIT_SHARDED;
  if (!hopeless && holds_as_is(j, PLAN_ORDER_MEMORY, &ordered)) return accept_ordered(j, ordered);
  bool known = !hopeless || !j->options.referee; /* else nobody asked XLA about that order */
  return rewrite(j, peak, known ? ordered : 0);
}

/* The smallest limit that the program as it came holds, under either order. */
static int64_t least_as_is(job *j) {
  int64_t program, memory;
  (void)holds_as_is(j, PLAN_ORDER_PROGRAM, &program);
  (void)holds_as_is(j, PLAN_ORDER_MEMORY, &memory);
  return memory < program ? memory : program;
}

/* A climb towards a limit that is out of reach: the least that any candidate came to, and where. */
static weir_status climb_in_vain(job *j, minimum *found) {
  ir_module *m;
  j->probing = true;
  search s = search_under(j, found->low, 0);
  WEIR_TRY(split_until_it_holds(j, j->prepared, &s, &m));
  if (m) keep_found(found, s.limit, m);
  found->guess = m ? s.peak : s.least;
  if (!m) found->start = s.at_least;
  return WEIR_OK;
}

/* Of a program that holds its limit, or has none. */
static weir_status add_minimum(job *j) {
  weir_result *r = j->result;
  const char *options[RESULT_MOST_OPTIONS + 1];
  plan_order order = j->order;
  memcpy(options, r->compile_options, sizeof options);
  int64_t high = least_as_is(j), low = held_throughout(j), limit = j->options.memory_limit_bytes;
  if (limit && limit < high) high = limit;
  WEIR_TRY(prepare(j));
  if (j->spread == SPLIT_SHARDED) return WEIR_OK; /* the estimate can't tell */
  set_order(j, PLAN_ORDER_MEMORY_UNHOISTED);
  minimum found = {.limit = high, .low = low > 1 ? low - 1 : 1};
  if (found.low < high) WEIR_TRY(climb_in_vain(j, &found));
  WEIR_TRY(find_minimum(j, j->prepared, &found));
  r->summary.minimum_bytes = found.limit;
  if (found.m) ir_module_destroy(found.m);
  memcpy(r->compile_options, options, sizeof options);
  j->order = order;
  return WEIR_OK;
}

/* ---- the paper's mode ---- */
static split_order threshold_order(const job *j) {
  int64_t threshold = j->options.tensor_size_threshold_bytes,
          slice = j->options.tensor_split_size_bytes;
  if (!slice) slice = threshold;
  return (split_order){.order = PLAN_ORDER_MEMORY_UNHOISTED,
                       .goal = goal_of_sizes(threshold, slice),
                       .no_tiles = j->options.tile == WEIR_TILE_OFF};
}

static weir_status split_above_threshold(job *j) {
  split_order order = threshold_order(j);
  ir_module *m = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, m));
  WEIR_TRY(check_spread(j, split_spread_of(m), true));
  ir_module *split;
  WEIR_TRY(split_alike(j, m, &order, &split));
  ir_module_destroy(m);
  if (!order.loops && !j->replaced) return accept(j, WEIR_UNTOUCHED, 0);
  j->rewritten = split;
  set_order(j, PLAN_ORDER_MEMORY_UNHOISTED);
  return accept(j, WEIR_REWRITTEN, 0);
}

static weir_status run_named_passes(job *j) {
  split_order order = threshold_order(j);
  ir_module *m = j->rewritten = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, m));
  if (!order.goal.threshold_bytes) return pipeline_split(j, m, NULL);
  WEIR_TRY(split_alike(j, m, &order, &j->rewritten));
  ir_module_destroy(m);
  return WEIR_OK;
}

weir_status ladder_climb(job *j) {
  weir_summary *s = &j->result->summary;
  s->limit_bytes = j->options.memory_limit_bytes;
  s->flops_before = s->flops_after = plan_flops(j->m);
  s->time_before_ns = s->time_after_ns = (int64_t)plan_time_ns(j->m);
  if (j->options.only_passes || j->options.stop_after) return run_named_passes(j);
  if (j->options.memory_limit_bytes) WEIR_TRY(hold_limit(j));
  else if (j->options.tensor_size_threshold_bytes) WEIR_TRY(split_above_threshold(j));
  else WEIR_TRY(accept_as_is(j, WEIR_UNTOUCHED, 0));
  return j->options.minimum == WEIR_MINIMUM_ALWAYS ? add_minimum(j) : WEIR_OK;
}
