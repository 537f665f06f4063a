/* weir_rewrite(): read, verify, climb the ladder, print. */
#include "weir/weir.h"

#include <stdio.h>

#include "in/in.h"
#include "ir/calls.h"
#include "machine/tuned.h"
#include "out/out.h"
#include "pipeline/pipeline.h"
#include "base/environment.h"
#include "base/kept.h"
#include "limit/ladder.h"
#include "limit/report.h"
#include "limit/result.h"

/* Memory of our own for one program. More would be a defect of ours, which must not end the
 * process that calls: 1150 ops take 20 MB. */
static const int64_t OWN_BYTES = (int64_t)4 << 30, OWN_BYTES_PER_CHARACTER = 16;

static void dump(void *user, const ir_module *m, const char *after) {
  job *j = user;
  arena *a = arena_create(&j->c);
  strbuf text = strbuf_make(a);
  out_stablehlo_text(m, &text);
  fprintf(stderr, "// ---- after %s\n%s\n", after, text.text);
  arena_destroy(a);
}

/* The version that was asked for, that of the input, or one that many read. */
static const char *target_of(const job *j) {
  const char *of_input = in_artifact_version(j->text, j->length);
  if (*j->options.bytecode) return j->options.bytecode;
  return of_input && out_bytecode_writes(of_input) ? of_input : OUT_BYTECODE_VERSION;
}

static weir_status print_module(job *j, const ir_module *m) {
  arena *a = arena_create(&j->c);
  strbuf text = strbuf_make(a);
  weir_status status = WEIR_OK;
  if (j->options.bytecode) status = out_bytecode(m, target_of(j), &text);
  else out_stablehlo_text(m, &text);
  if (status == WEIR_OK) status = result_set_text(&j->c, j->result, text.text, text.length);
  arena_destroy(a);
  return status;
}

static bool is_trial(const job *j) { return j->options.only_passes || j->options.stop_after; }

/* Named passes may be tried on anything; a limit is a program's, and one of a size to look at. */
static weir_status check_program(job *j) {
  int64_t most = ir_most_inlined(ir_count_below(j->m, j->m->root));
  j->is_vast = ir_count_inlined(j->m) > most;
  if (is_trial(j)) return WEIR_OK;
  WEIR_TRY(ir_check_main(j->m));
  if (!j->is_vast) return WEIR_OK;
  return ctx_error(&j->c, WEIR_UNIMPLEMENTED,
                   "its functions call each other so often that inlined it has more than %lld ops, "
                   "or without end",
                   (long long)most);
}

static weir_status read_program(job *j) {
  WEIR_TRY(pass_check_options(&j->driver));
  WEIR_TRY(machine_parse(&j->c, j->options.machine, &j->machine));
  WEIR_TRY(machine_settle(&j->c, &j->machine, &j->options.platform));
  WEIR_TRY(in_program(&j->c, j->text, j->length, &j->m));
  WEIR_TRY(ir_verify(j->m));
  j->m = ir_module_compacted(j->m); /* it stays while XLA compiles */
  return check_program(j);
}

/* The pipeline on one screen. */
static weir_status rewrite(void *user) {
  job *j = user;
  WEIR_TRY(read_program(j));
  if (j->options.bytecode || in_is_bytecode(j->text, j->length))
    WEIR_TRY(print_module(j, j->m)); /* as it came */
  if (j->machine.device)             /* as its XLA does */
    WEIR_TRY(pass_run(&j->driver, &pass_groups, j->m, NULL));
  climb c;
  weir_status status = ladder_climb(j, &c);
  bool has_plan = status == WEIR_OK || c.is_refused;
  if (has_plan && !j->is_vast) WEIR_TRY(report_explain(j, &c));
  WEIR_TRY(status);
  return c.outcome == WEIR_REWRITTEN || is_trial(j) ? print_module(j, c.taken.m) : WEIR_OK;
}

static weir_options complete(
    const weir_options *given) { /* fields that an older caller does not know stay zero */
  weir_options o = WEIR_OPTIONS_INIT;
  if (given) memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
  o.struct_size = sizeof o;
  return o;
}

static weir_status run(job *j, weir_status (*what)(void *), void *user) {
  ctx_init(&j->c);
  j->c.debug = j->options.debug;
  j->c.most_bytes = OWN_BYTES + OWN_BYTES_PER_CHARACTER * (int64_t)j->length;
  j->driver = (pass_driver){.c = &j->c,
                            .options = &j->options,
                            .table = pipeline_passes,
                            .machine = &j->machine,
                            .dump = dump,
                            .dump_user = j};
  weir_status status = ctx_try(&j->c, what, user);
  if (status != WEIR_OK) result_set_error(j->result, j->c.message);
  if (status != WEIR_OK || j->result->outcome != WEIR_UNTOUCHED)
    ctx_log(&j->c, 2, "looked at %lld ops", (long long)j->c.looked_at);
  ctx_deinit(&j->c);
  return status;
}

/* Of a program, for a result. what: a job -> status. */
static weir_status run_for(const char *text, size_t length, const weir_options *options,
                           weir_status (*what)(void *), weir_result **out_result) {
  *out_result = result_create();
  if (!*out_result) return WEIR_RESOURCE_EXHAUSTED;
  job j = {.options = complete(options), .result = *out_result, .text = text, .length = length};
  return run(&j, what, &j);
}

weir_status weir_rewrite(const char *text, size_t length, const weir_options *options,
                         weir_result **out_result) {
  return run_for(text, length, options, rewrite, out_result);
}

typedef struct question {
  job job;
  bool is_untouched;
} question;

static weir_status find_out(void *user) {
  question *q = user;
  WEIR_TRY(read_program(&q->job));
  return ladder_is_untouched(&q->job, &q->is_untouched);
}

weir_status weir_fits(const char *text, size_t length, const weir_options *options,
                      bool *out_fits) {
  *out_fits = false;
  weir_result *result = result_create();
  if (!result) return WEIR_RESOURCE_EXHAUSTED;
  question q = {
      .job = {.options = complete(options), .result = result, .text = text, .length = length}};
  weir_status status = run(&q.job, find_out, &q);
  *out_fits = status == WEIR_OK && q.is_untouched;
  weir_result_destroy(result);
  return status;
}

/* ---- over several devices ---- */
static weir_status spread(void *user) {
  job *j = user;
  int64_t limit = j->options.memory_limit_bytes;
  WEIR_TRY(read_program(j));
  WEIR_TRY(pipeline_prepare(j, PREPARE_FOR_A_SPLIT, limit, j->m, NULL));
  if (!pipeline_spread(j->m, limit / TUNED_LARGE_SHARE)) return WEIR_OK;
  WEIR_TRY(ir_verify(j->m));
  j->result->outcome = WEIR_REWRITTEN;
  return print_module(j, j->m);
}

weir_status weir_spread(const char *text, size_t length, const weir_options *options,
                        weir_result **out_result) {
  return run_for(text, length, options, spread, out_result);
}

/* ---- machines ---- */
bool weir_device(int32_t index, weir_device_info *out_info) {
  const device *d = device_at(index);
  if (!d) return false;
  weir_device_info found = {.struct_size = out_info->struct_size,
                            .name = d->name,
                            .platform = d->platform->name,
                            .kind = d->kind,
                            .target = d->target,
                            .memory_bytes = d->memory_bytes};
  memcpy(out_info, &found, found.struct_size < sizeof found ? found.struct_size : sizeof found);
  return true;
}

void weir_read_environment(void) { environment_read(); }

typedef struct description {
  ctx c;
  const char *name;
  weir_result *result;
} description;

static weir_status describe(void *user) {
  description *d = user;
  machine m;
  WEIR_TRY(machine_parse(&d->c, d->name, &m));
  const char *text = machine_describe(arena_create(&d->c), &m);
  return result_set_text(&d->c, d->result, text, strlen(text));
}

typedef struct keeping {
  ctx c;
  machine_measured rates;
  bool wants; /* out */
} keeping;

static weir_status keep(void *user) {
  keeping *k = user;
  return machine_keep(arena_create(&k->c), &k->rates);
}

weir_status weir_machine_keep(const weir_machine_rates *by_xla) {
  weir_machine_rates given = {0};
  memcpy(&given, by_xla, by_xla->struct_size < sizeof given ? by_xla->struct_size : sizeof given);
  keeping k = {.rates = {.products = given.products, .fused = given.fused, .memory = given.memory}};
  ctx_init(&k.c);
  weir_status status = ctx_try(&k.c, keep, &k);
  ctx_deinit(&k.c);
  return status;
}

static weir_status look_up_kept(void *user) {
  keeping *k = user;
  arena *a = arena_create(&k->c);
  k->wants = kept_folder(a) && !(machine_here(a).rates.vectors > 0);
  return WEIR_OK;
}

bool weir_machine_wants_rates(void) {
  keeping k = {.wants = false};
  ctx_init(&k.c);
  bool wants = ctx_try(&k.c, look_up_kept, &k) == WEIR_OK && k.wants;
  ctx_deinit(&k.c);
  return wants;
}

weir_status weir_machine_describe(const char *machine, weir_result **out_result) {
  description d = {.name = machine};
  return result_make(&d.c, describe, &d, &d.result, out_result);
}
