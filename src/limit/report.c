#include "limit/report.h"

#include "ir/attrs.h"
#include "plan/explain.h"
#include "plan/peak.h"
#include "limit/data.h"
#include "limit/result.h"

enum { MOST_ROWS = 8 };

/* ---- the summary: a few lines ---- */
static void put_flops(const job *j, strbuf *out) {
  const weir_summary *s = &j->result->summary;
  double before = (double)s->flops_before, after = (double)s->flops_after;
  if (before <= 0) return;
  strbuf_printf(out, ", flops %.3g -> %.3g (%+.1f %%)", before, after, 100 * (after / before - 1));
  if (ir_has_unknown_trips(j->m))
    strbuf_puts(out, ", with one trip of each loop that ends by what it computes");
}

static bool is_load(const job *j) {
  const weir_summary *s = &j->result->summary;
  return s->limit_bytes && s->peak_before_bytes > s->limit_bytes;
}

static void put_faster(const job *j, const climb *c, strbuf *out) {
  const weir_summary *s = &j->result->summary;
  const char *what = candidate_has_loops(&c->taken, false) ? "loop" : "kernel";
  strbuf_printf(out, "fits; %d region%s as %s%s, predicted %.2g times as fast", s->loops,
                s->loops == 1 ? "" : "s", what, s->loops == 1 ? "" : "s",
                (double)s->time_before_ns / (double)s->time_after_ns);
}

static void put_outcome(const job *j, const climb *c, strbuf *out) {
  const weir_summary *s = &j->result->summary;
  strbuf_puts(out, "outcome  ");
  if (c->is_refused && s->minimum_bytes)
    strbuf_printf(out, "refused; the smallest limit found feasible is %s (%lld bytes)",
                  plan_bytes_text(out->arena, s->minimum_bytes), (long long)s->minimum_bytes);
  else if (c->is_refused) strbuf_puts(out, "refused");
  else if (s->only_faster) put_faster(j, c, out);
  else if (c->taken.m) {
    strbuf_printf(out, "rewritten, %d loop%s", (int)s->loops, s->loops == 1 ? "" : "s");
    put_flops(j, out);
  } else if (c->outcome == WEIR_OPTIONS_ONLY)
    strbuf_printf(out, "the program as it is%s",
                  j->result->compile_options[0] ? ", compiled with other options" : "");
  else if (is_load(j)) strbuf_puts(out, "left untouched: loading data is never refused");
  else strbuf_puts(out, "left untouched");
  if (s->is_unconfirmed) strbuf_puts(out, "; unconfirmed: XLA does not compile it");
  strbuf_puts(out, "\n");
}

/* Only a program that nobody has compiled yet has such. */
static void put_unsized(const job *j, strbuf *out) {
  const ir_module *m = j->m;
  int64_t count = 0;
  for (ir_value v = 1; v < m->values.count; v++) {
    const ir_type_data *t = ir_type_at(m, v);
    bool is_unsized = false;
    for (int32_t i = 0; t->kind == IR_TYPE_TENSOR && i < t->rank; i++) is_unsized |= t->dims[i] < 0;
    count += is_unsized;
  }
  if (count)
    strbuf_printf(out, "         without %lld value%s whose size is known only when it runs\n",
                  (long long)count, count == 1 ? "" : "s");
}

static const char *says(bool is_estimate) { return is_estimate ? "weir estimates" : "XLA reports"; }

static void put_timed(const weir_summary *s, strbuf *out) {
  if (s->tried_took_ns)
    strbuf_printf(out, "timed    %.3g ms %s, %.3g ms without\n", (double)s->tried_took_ns / 1e6,
                  s->tried_how, (double)s->else_took_ns / 1e6);
}

static void put_warning(const weir_summary *s, strbuf *out) {
  if (!s->faster_limit_bytes) return;
  strbuf_printf(out,
                "warning  predicted %.2g times as slow as it came; at most twice under %s "
                "(%lld bytes)\n",
                (double)s->time_after_ns / (double)s->time_before_ns,
                plan_bytes_text(out->arena, s->faster_limit_bytes),
                (long long)s->faster_limit_bytes);
}

/* Of who plans for a device without its XLA. */
static void put_device(const job *j, strbuf *out) {
  const device *d = j->machine.device;
  if (!d || !j->options.machine || j->options.referee) return;
  strbuf_printf(out, "device   %s, %s; judged by weir's estimate\n", d->name,
                plan_bytes_text(out->arena, d->memory_bytes));
  if (j->result->summary.limit_bytes > d->memory_bytes)
    strbuf_puts(out, "doubt    the limit is more than the device has\n");
}

static void put_summary(const job *j, const climb *c, strbuf *out) {
  const weir_summary *s = &j->result->summary;
  bool changes = !c->is_refused && s->peak_after_bytes != s->peak_before_bytes;
  put_device(j, out);
  if (s->limit_bytes)
    strbuf_printf(out, "limit    %s\n", plan_bytes_text(out->arena, s->limit_bytes));
  strbuf_printf(out, "peak     %s", plan_bytes_text(out->arena, s->peak_before_bytes));
  if (!changes || s->before_is_estimate != s->after_is_estimate)
    strbuf_printf(out, ", as %s", says(s->before_is_estimate));
  if (changes)
    strbuf_printf(out, " -> %s, as %s", plan_bytes_text(out->arena, s->peak_after_bytes),
                  says(s->after_is_estimate));
  strbuf_puts(out, "\n");
  put_unsized(j, out);
  if (s->limit_bytes || j->options.tensor_size_threshold_bytes || c->taken.m)
    put_outcome(j, c, out);
  put_timed(s, out);
  put_warning(s, out);
  if (s->minimum_bytes && !c->is_refused)
    strbuf_printf(out, "minimum  %s (%lld bytes): the smallest limit found feasible\n",
                  plan_bytes_text(out->arena, s->minimum_bytes), (long long)s->minimum_bytes);
}

/* ---- the tables ---- */
static void put_peak(strbuf *out, const char *when, const ir_module *m, const plan_peak *peak) {
  strbuf_printf(out, "\n%s, estimated: ", when);
  plan_explain_peak(m, peak, out, MOST_ROWS);
}

static void put_loops(const job *j, strbuf *out) {
  const weir_result *r = j->result;
  if (r->summary.loops == 0) return;
  bool has_kernels = false; /* else there is nothing to tell apart */
  for (int32_t i = 0; i < r->summary.loops; i++) has_kernels |= r->loops[i].is_kernel;
  strbuf_printf(out, "\nloops:\n%12s %10s %10s %6s %14s  %s%s\n", "length", "slice", "trips", "ops",
                "largest slice", has_kernels ? "run as  " : "", "instead of");
  for (int32_t i = 0; i < r->summary.loops; i++) {
    const weir_loop_info *l = &r->loops[i];
    const char *as = !has_kernels ? "" : l->is_kernel ? "kernel  " : "loop    ";
    const char *largest = l->is_kernel ? "-" : plan_bytes_text(out->arena, l->body_peak_bytes);
    strbuf_printf(out, "%12lld %10lld %10lld %6d %14s  %s%*s%s\n", (long long)l->extent,
                  (long long)l->slice, (long long)l->trips, (int)l->ops, largest, as,
                  2 * (int)l->depth, "", l->seed);
  }
}

/* The program as it came with its calls inlined, because an op's line in the user's source is known
 * only together with its call's. An untouched program is not worth the copy. */
static weir_status as_it_came(job *j, const climb *c, ir_module **out_m) {
  *out_m = j->m;
  bool is_shown =
      j->options.data || j->options.trace || c->outcome != WEIR_UNTOUCHED || c->is_refused;
  if (!is_shown) return WEIR_OK;
  *out_m = ir_module_clone(j->m);
  weir_options options = WEIR_OPTIONS_INIT;
  pass_driver quiet = {.c = &j->c, .options = &options, .table = pipeline_passes};
  return pass_run(&quiet, &pass_inline, *out_m, NULL);
}

/* Where XLA was not asked, weir's estimates are the numbers. */
static void complete_summary(job *j, const plan_peak *before, const plan_peak *after) {
  weir_summary *s = &j->result->summary;
  if (s->peak_before_bytes == 0) s->peak_before_bytes = before->total_bytes;
  if (j->result->outcome == WEIR_UNTOUCHED) s->peak_after_bytes = s->peak_before_bytes;
  else if (s->peak_after_bytes == 0) s->peak_after_bytes = after->total_bytes;
}

weir_status report_explain(job *j, const climb *c) {
  arena *a = arena_create(&j->c);
  strbuf out = strbuf_make(a);
  ir_module *m;
  WEIR_TRY(as_it_came(j, c, &m));
  plan_peak before = plan_peak_of(a, m, PLAN_ORDER_PROGRAM, machine_memory(&j->machine)),
            after = before;
  if (c->taken.m) after = plan_peak_of(a, c->taken.m, c->taken.order, machine_memory(&j->machine));
  complete_summary(j, &before, &after);
  put_summary(j, c, &out);
  put_peak(&out, "before", m, &before);
  if (c->taken.m) {
    put_peak(&out, "after", c->taken.m, &after);
    put_loops(j, &out);
  }
  weir_status status = result_set_explain(&j->c, j->result, out.text);
  if (status == WEIR_OK && j->options.data) status = data_of_plan(j, c, m);
  if (status == WEIR_OK && j->options.trace) status = data_of_trace(j, c, m);
  if (m != j->m) ir_module_destroy(m);
  arena_destroy(a);
  return status;
}
