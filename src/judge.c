#include "judge.h"

#include "machine/cpu.h"
#include "out/out.h"
#include "result.h"

void judge_set_order(job *j, plan_order order) {
  const char **options = j->result->compile_options;
  memset(options, 0, sizeof j->result->compile_options);
  if (!strcmp(j->options.platform, "cpu"))
    cpu_xla_options(&j->machine, plan_is_by_memory(order), !plan_hoists(order), options);
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

verdict judge_as_is(job *j, plan_order order) {
  verdict v;
  judge_set_order(j, order);
  v.is_xlas = judge_ask(j, NULL, &v.peak);
  if (!v.is_xlas) v.peak = judge_estimate(j, j->m, order);
  return v;
}
