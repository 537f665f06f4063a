#include "limit/referee.h"

#include "out/out.h"
#include "limit/result.h"

void referee_options(const job *j, plan_order order,
                     const char *out_options[CPU_MOST_OPTIONS + 1]) {
  out_options[0] = NULL;
  if (!strcmp(j->options.platform, "cpu"))
    cpu_xla_options(&j->machine, plan_is_by_memory(order), !plan_hoists(order), out_options);
}

static int64_t total_of(const weir_memory *m) {
  return m->argument_bytes + m->output_bytes - m->alias_bytes + m->temp_bytes;
}

/* text NULL: as it came in. */
static bool ask(job *j, const char *text, size_t length, plan_order order, int64_t *out_total) {
  const char *options[CPU_MOST_OPTIONS + 1];
  weir_memory memory = {0};
  referee_options(j, order, options);
  j->result->summary.referee_compiles++;
  if (j->options.referee(j->options.referee_user, text, length, options, &memory)) return false;
  *out_total = total_of(&memory);
  ctx_log(&j->c, 2,
          "XLA reports %lld bytes (arguments %lld, outputs %lld, aliased %lld, temporaries %lld)",
          (long long)*out_total, (long long)memory.argument_bytes, (long long)memory.output_bytes,
          (long long)memory.alias_bytes, (long long)memory.temp_bytes);
  return true;
}

bool referee_ask(job *j, const ir_module *m, plan_order order, int64_t *out_total) {
  if (!j->options.referee) return false;
  if (!m) return ask(j, NULL, 0, order, out_total);
  arena *a = arena_create(&j->c);
  strbuf text = strbuf_make(a);
  out_stablehlo_text(m, &text);
  bool answered = ask(j, text.text, text.length, order, out_total);
  arena_destroy(a);
  return answered;
}

int64_t referee_estimate(job *j, const ir_module *m, plan_order order) {
  arena *a = arena_create(&j->c);
  int64_t total = plan_peak_of(a, m, order).total_bytes;
  arena_destroy(a);
  return total;
}

verdict referee_judge_as_it_came(job *j, plan_order order) {
  verdict v = {0};
  v.is_xlas = referee_ask(j, NULL, order, &v.peak);
  if (!v.is_xlas) v.peak = referee_estimate(j, j->m, order);
  return v;
}
