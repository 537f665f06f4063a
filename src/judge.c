#include "judge.h"

#include "out/out.h"
#include "result.h"

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

void judge_set_order(job *j, plan_order order) {
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

bool judge_ask(job *j, const ir_module *m, int64_t *out_total) {
  if (!m) return ask_referee(j, NULL, 0, out_total);
  arena *a = arena_create(&j->c);
  strbuf text = strbuf_make(a);
  out_stablehlo_text(m, &text);
  bool answered = ask_referee(j, text.text, text.length, out_total);
  arena_destroy(a);
  return answered;
}

int64_t judge_estimate(job *j, const ir_module *m, plan_order order) {
  arena *a = arena_create(&j->c);
  int64_t total = plan_peak_of(a, m, order).total_bytes;
  arena_destroy(a);
  return total;
}

bool judge_holds_as_is(job *j, plan_order order, int64_t *out_peak) {
  judge_set_order(j, order);
  if (!judge_ask(j, NULL, out_peak)) *out_peak = judge_estimate(j, j->m, order);
  return *out_peak <= j->options.memory_limit_bytes;
}
