#include "limit/referee.h"

#include <string.h>

#include "base/hash.h"
#include "ir/calls.h"
#include "limit/result.h"
#include "machine/tuned.h"
#include "out/out.h"
#include "plan/cost.h"

bool referee_has_orders(const job *j) {
  return !j->machine.device && !strcmp(j->options.platform, "cpu");
}

static int64_t total_of(const weir_memory *m) {
  return m->argument_bytes + m->output_bytes - m->alias_bytes + m->temp_bytes;
}

/* ---- what XLA said before ---- */
/* Takes an equal hash for equality. text NULL: as it came in, which no candidate is. */
static uint64_t key_of(const char *text, size_t length, const char *const *options) {
  uint64_t key = text ? hash_wide(HASH_WIDE_BEGIN, text, length) : 0;
  for (; *options; options++) key = hash_wide(key, *options, strlen(*options) + 1);
  return key;
}

static const referee_report *find_report(const job *j, uint64_t key) {
  for (uint32_t i = 0; i < j->reports.count; i++)
    if (j->reports.at[i].key == key) return &j->reports.at[i];
  return NULL;
}

/* Asks XLA, and keeps what it says, also that it does not compile it: that takes as long as a
 * compilation, and seldom ends well another time. */
static void compile(job *j, const char *text, size_t length, const char *const *options,
                    uint64_t key) {
  referee_report made = {.key = key};
  j->result->summary.referee_compiles++;
  ctx_give_back(&j->c);
  made.has_failed =
      j->options.referee(j->options.referee_user, text, length, options, &made.memory) != 0;
  ctx_give_back(&j->c); /* most of what compiling took is free again */
  if (!j->reports_arena) j->reports_arena = arena_create(&j->c);
  VEC_PUSH(j->reports_arena, &j->reports, made);
}

/* *in_out: the largest so far. False: it does not compile. */
static bool note_report(job *j, const referee_report *said, verdict *in_out) {
  CTX_CHECK(&j->c, said);
  if (said->has_failed) return false;
  const weir_memory *memory = &said->memory;
  int64_t total = total_of(memory);
  if (total > in_out->peak) in_out->peak = total;
  in_out->held = total - memory->temp_bytes;
  ctx_log(&j->c, 2,
          "XLA reports %lld bytes (arguments %lld, outputs %lld, aliased %lld, temporaries %lld)",
          (long long)total, (long long)memory->argument_bytes, (long long)memory->output_bytes,
          (long long)memory->alias_bytes, (long long)memory->temp_bytes);
  return true;
}

/* text NULL: as it came in. */
static bool ask(job *j, const char *text, size_t length, const char *const *options,
                verdict *in_out) {
  uint64_t key = key_of(text, length, options);
  if (!find_report(j, key)) compile(j, text, length, options, key);
  return note_report(j, find_report(j, key), in_out);
}

/* What was said of it when it was to run serves, too. */
static bool ask_for_report(job *j, const char *text, size_t length, const char **options,
                           verdict *in_out) {
  const referee_report *said = find_report(j, key_of(text, length, options));
  int32_t n = 0;
  if (said) return note_report(j, said, in_out);
  while (options[n]) n++;
  CTX_CHECK(&j->c, n < MACHINE_MOST_OPTIONS);
  options[n] = machine_xla_report_only(&j->machine);
  options[n + 1] = NULL;
  return ask(j, text, length, options, in_out);
}

/* In each way in which XLA may compile it. */
static bool ask_all(job *j, const candidate *c, const char *text, size_t length, bool only_report,
                    verdict *out) {
  const char *options[MACHINE_MOST_OPTIONS + 1], *other = machine_xla_otherwise(&j->machine);
  *out = (verdict){0};
  candidate_options(j, c, options);
  out->is_xlas = only_report ? ask_for_report(j, text, length, options, out)
                             : ask(j, text, length, options, out);
  if (!out->is_xlas || !other) return out->is_xlas;
  CTX_CHECK(&j->c, !options[0]); /* devices have no others */
  return out->is_xlas = ask(j, text, length, (const char *const[]){other, NULL}, out);
}

/* In no more memory than it takes, for XLA is about to take much. */
static const char *text_of(arena *a, const ir_module *m, size_t *out_length) {
  arena *scratch = arena_create(m->ctx);
  strbuf text = strbuf_make(scratch);
  out_stablehlo_text(m, &text);
  const char *copy = arena_strdup(a, text.text, text.length);
  *out_length = text.length;
  arena_destroy(scratch);
  return copy;
}

static bool ask_about_text(job *j, const candidate *c, bool only_report, verdict *out) {
  if (!c->m) return ask_all(j, c, NULL, 0, only_report, out);
  arena *a = arena_create(&j->c);
  size_t length;
  const char *text = text_of(a, c->m, &length);
  bool answered = ask_all(j, c, text, length, only_report, out);
  arena_destroy(a);
  return answered;
}

/* What XLA compiles counts as looked at. */
static bool ask_about(job *j, const candidate *c, bool only_report, verdict *out) {
  const int32_t *compiles = &j->result->summary.referee_compiles, before = *compiles;
  if (!j->options.referee) return false;
  bool answered = ask_about_text(j, c, only_report, out);
  int64_t n_ops = c->m ? ir_count_below(c->m, c->m->root) : ir_count_inlined(j->m);
  j->c.looked_at += (*compiles - before) * n_ops * TUNED_COMPILED_OP;
  return answered;
}

bool referee_ask(job *j, const candidate *c, verdict *out) { return ask_about(j, c, false, out); }

bool referee_ask_report(job *j, const candidate *c, verdict *out) {
  return ask_about(j, c, referee_has_orders(j), out);
}

int64_t referee_estimate(job *j, const ir_module *m, plan_order order) {
  arena *a = arena_create(&j->c);
  int64_t total = plan_peak_of(a, m, order, machine_memory(&j->machine)).total_bytes;
  arena_destroy(a);
  return total;
}

static verdict judge(job *j, plan_order order, bool only_report) {
  verdict v = {0};
  if (!ask_about(j, &(candidate){.order = order}, only_report, &v))
    v.peak = referee_estimate(j, j->m, order);
  return v;
}

verdict referee_judge_as_it_came(job *j, plan_order order) { return judge(j, order, false); }

verdict referee_report_as_it_came(job *j, plan_order order) {
  return judge(j, order, referee_has_orders(j));
}

int64_t referee_held_throughout(job *j) {
  arena *a = arena_create(&j->c);
  plan_peak peak = plan_peak_of(a, j->m, PLAN_ORDER_PROGRAM, machine_memory(&j->machine));
  arena_destroy(a);
  return plan_held_bytes(&peak);
}
