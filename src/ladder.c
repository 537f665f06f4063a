/* The ladder: from "untouched" to "refused", stopping at the first rung that holds the limit.
 *
 *   0  every temporary together is under the limit              -> untouched, nothing spent
 *   1  XLA's honest report of the program as it is              -> the same program, honest options
 *   2  the same under the memory-optimised schedule             -> the same program, those options
 *   3  split, estimate, ask XLA; tighten what is too large      -> rewritten
 *   5  RESOURCE_EXHAUSTED with what stands in the way
 *
 * Without a referee weir's own estimate decides. XLA's report is honest on CPU only without YNN fusions, whose scratch it does not see; loop-invariant code
 * motion is off in what we rewrote because it keeps what it hoists (docs/design/loop-emission-facts.md).
 */
#include <stdio.h>

#include "out/out.h"
#include "pipeline.h"
#include "plan/cost.h"
#include "plan/explain.h"
#include "plan/peak.h"
#include "result.h"

enum { MOST_COMPILES = 8 };

static const int64_t FIRST_SLICE_BYTES = 8 << 20;  /* flat optimum on CPU: docs/design/loop-emission-facts.md, section 6 */
static const int64_t LEAST_SLICE_BYTES = 1 << 10;
static const int64_t GENEROUS = 8;                 /* times the slice, for 64 rows */
static const int64_t HOPELESS = 2;                 /* an estimate this many times the limit is not worth an XLA compile to confirm */
static const int64_t THRESHOLD_SHARE = 32;         /* values above limit / 32 are dissolved */

typedef enum rung { RUNG_HONEST, RUNG_ORDERED, RUNG_REWRITTEN } rung;

/* Each rung has those of the ones before it, too. */
static const struct {
  rung since;
  const char *option;
} cpu_options[] = {
    {RUNG_HONEST, "xla_cpu_experimental_ynn_fusion_type="},
    {RUNG_ORDERED, "xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"},
    {RUNG_REWRITTEN, "xla_disable_hlo_passes=while-loop-invariant-code-motion"},
    {RUNG_REWRITTEN, "xla_cpu_prefer_vector_width=512"}, /* slices are in cache: 5 to 15 % faster */
};

static void set_options(job *j, rung r) {
  size_t n = strcmp(j->options.platform, "cpu") ? 0 : sizeof cpu_options / sizeof *cpu_options, count = 0;
  memset(j->result->compile_options, 0, sizeof j->result->compile_options);
  for (size_t i = 0; i < n; i++)
    if (cpu_options[i].since <= r) j->result->compile_options[count++] = cpu_options[i].option;
}

static int64_t total_of(const weir_memory *m) { return m->argument_bytes + m->output_bytes - m->alias_bytes + m->temp_bytes; }

/* XLA's total for the candidate under the options of the result; false if there is no referee or it did not compile. text NULL: as it came in. */
static bool ask_referee(job *j, const char *text, size_t length, int64_t *out_total) {
  if (!j->options.referee) return false;
  weir_memory memory = {0};
  j->result->summary.referee_compiles++;
  if (j->options.referee(j->options.referee_user, text, length, j->result->compile_options, &memory)) return false;
  *out_total = total_of(&memory);
  ctx_log(&j->c, 2, "XLA reports %lld bytes (arguments %lld, outputs %lld, aliased %lld, temporaries %lld)", (long long)*out_total,
          (long long)memory.argument_bytes, (long long)memory.output_bytes, (long long)memory.alias_bytes, (long long)memory.temp_bytes);
  return true;
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
static bool holds_as_is(job *j, rung r, plan_order order, int64_t *out_peak) {
  set_options(j, r);
  if (!ask_referee(j, NULL, 0, out_peak)) *out_peak = estimate(j, j->m, order);
  return *out_peak <= j->options.memory_limit_bytes;
}

/* ---- rung 3 ---- */

/* Splits a copy of the prepared program for one slice size; *out_m is the rewritten copy. */
static weir_status split_copy(job *j, const ir_module *prepared, int64_t target, int64_t slice_bytes, split_order *order, ir_module **out_m) {
  int64_t threshold = target / THRESHOLD_SHARE;
  *order = (split_order){.goal = {.threshold_bytes = threshold < slice_bytes ? threshold : slice_bytes, .hold_bytes = target, .slice_bytes = slice_bytes,
                                   .generous_bytes = slice_bytes * GENEROUS, .is_materialised = plan_is_materialised}, .limit_bytes = target};
  ir_module *m = ir_module_clone(prepared);
  WEIR_TRY(pipeline_split(j, m, order));
  ctx_log(&j->c, 2, "slices of %lld bytes: estimated peak %lld, target %lld", (long long)slice_bytes, (long long)order->peak_bytes, (long long)target);
  *out_m = m;
  return WEIR_OK;
}

typedef struct search {
  int64_t target, slice_bytes;
  int64_t least;  /* the smallest peak seen */
} search;

/* One candidate; *out_done if it holds. Else the search is narrowed. */
static weir_status try_candidate(job *j, const ir_module *prepared, search *s, bool *out_done) {
  split_order order;
  ir_module *m;
  WEIR_TRY(split_copy(j, prepared, s->target, s->slice_bytes, &order, &m));
  int64_t peak = order.peak_bytes, limit = j->options.memory_limit_bytes;
  if (order.fits) {
    arena *a = arena_create(&j->c);
    strbuf text = strbuf_make(a);
    out_stablehlo_text(m, &text);
    ask_referee(j, text.text, text.length, &peak);
    arena_destroy(a);
  }
  if (peak < s->least) s->least = peak;
  *out_done = peak <= limit && order.fits;
  if (*out_done) {
    j->rewritten = m;
    return accept(j, WEIR_REWRITTEN, peak);
  }
  ir_module_destroy(m);
  if (order.fits) s->target = (int64_t)((double)s->target * (double)limit / (double)peak * 0.98);
  else s->slice_bytes /= 4;
  return WEIR_OK;
}

static weir_status split_until_it_holds(job *j, search *s, bool *out_done) {
  ir_module *prepared = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, prepared));
  set_options(j, RUNG_REWRITTEN);
  int32_t compiles = j->result->summary.referee_compiles;
  *out_done = false;
  while (!*out_done && s->slice_bytes >= LEAST_SLICE_BYTES && j->result->summary.referee_compiles - compiles < MOST_COMPILES)
    WEIR_TRY(try_candidate(j, prepared, s, out_done));
  ir_module_destroy(prepared);
  return WEIR_OK;
}

/* ---- rung 5 ---- */
static weir_status refuse(job *j, int64_t peak, int64_t least) {
  arena *a = arena_create(&j->c);
  strbuf text = strbuf_make(a);
  plan_peak before = plan_peak_of(a, j->m, PLAN_ORDER_MEMORY);
  plan_explain_peak(j->m, &before, &text, 5);
  j->result->summary.minimum_bytes = least;
  weir_status status = ctx_error(&j->c, WEIR_RESOURCE_EXHAUSTED, "the program needs %lld bytes, the limit is %lld; the smallest limit found feasible is %lld. %s",
                                 (long long)peak, (long long)j->options.memory_limit_bytes, (long long)least, text.text);
  arena_destroy(a);
  return status;
}

static weir_status hold_limit(job *j) {
  int64_t limit = j->options.memory_limit_bytes, peak, ordered;
  if (plan_upper_bound(j->m) <= limit) return accept(j, WEIR_UNTOUCHED, plan_upper_bound(j->m));
  bool holds = holds_as_is(j, RUNG_HONEST, PLAN_ORDER_PROGRAM, &peak);
  j->result->summary.peak_before_bytes = peak;
  if (holds) return accept(j, WEIR_OPTIONS_ONLY, peak);
  ordered = estimate(j, j->m, PLAN_ORDER_MEMORY);
  bool hopeless = ordered / HOPELESS > limit;
  if (!hopeless && holds_as_is(j, RUNG_ORDERED, PLAN_ORDER_MEMORY, &ordered)) return accept(j, WEIR_OPTIONS_ONLY, ordered);
  search s = {limit, FIRST_SLICE_BYTES < limit / 8 ? FIRST_SLICE_BYTES : limit / 8, ordered};
  bool done;
  WEIR_TRY(split_until_it_holds(j, &s, &done));
  return done ? WEIR_OK : refuse(j, peak, s.least);
}

/* ---- the paper's mode ---- */
static split_order threshold_order(const job *j) {
  int64_t threshold = j->options.tensor_size_threshold_bytes, slice = j->options.tensor_split_size_bytes;
  if (!slice) slice = threshold;
  return (split_order){.goal = {.threshold_bytes = threshold, .hold_bytes = threshold, .slice_bytes = slice, .generous_bytes = slice}};
}

static weir_status split_above_threshold(job *j) {
  split_order order = threshold_order(j);
  ir_module *m = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, m));
  WEIR_TRY(pipeline_split(j, m, &order));
  if (!order.loops && !j->replaced) return accept(j, WEIR_UNTOUCHED, 0);
  j->rewritten = m;
  set_options(j, RUNG_REWRITTEN);
  return accept(j, WEIR_REWRITTEN, 0);
}

static weir_status run_named_passes(job *j) {
  split_order order = threshold_order(j);
  j->rewritten = ir_module_clone(j->m);
  WEIR_TRY(pipeline_prepare(j, j->rewritten));
  return pipeline_split(j, j->rewritten, order.goal.threshold_bytes ? &order : NULL);
}

weir_status ladder_climb(job *j) {
  j->result->summary.limit_bytes = j->options.memory_limit_bytes;
  j->result->summary.flops_before = j->result->summary.flops_after = plan_flops(j->m);
  if (j->options.only_passes || j->options.stop_after) return run_named_passes(j);
  if (j->options.memory_limit_bytes) return hold_limit(j);
  if (j->options.tensor_size_threshold_bytes) return split_above_threshold(j);
  return WEIR_OK;
}
