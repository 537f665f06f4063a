/* The passes in order. */
#include "pipeline/pipeline.h"

#include "base/ints.h"
#include "machine/tuned.h"
#include "out/out.h"
#include "pipeline/hoist.h"
#include "pipeline/kernels.h"
#include "pipeline/made.h"
#include "pipeline/progress_calls.h"
#include "plan/cost.h"
#include "split/loops.h"

static weir_status run_split(pass_ctx *p, ir_module *m) {
  split_order *order = p->user;
  if (!order->limit_bytes && !order->goal.threshold_bytes) return WEIR_OK;
  if (order->limit_bytes && !order->by_size) splitter_to_fit(m, order);
  else splitter_above_threshold(m, order);
  order->is_torn = !order->no_kernels && !kernels_agree(m);
  p->changed = order->loops > 0;
  return WEIR_OK;
}

bool pipeline_can_call(const weir_options *o, const ir_module *m) {
  return !strcmp(o->platform, "cpu") && ir_op_int(m, m->root, "mhlo.num_partitions", 1) == 1;
}

static weir_status run_kernels(pass_ctx *p, ir_module *m) {
  split_order *order = p->user;
  if (order->no_kernels) return WEIR_OK;
  order->n_kernels = kernels_replace_loops(m, order->machine, order->least_gain).count;
  p->changed = order->n_kernels > 0;
  return WEIR_OK;
}

static weir_status run_progress(pass_ctx *p, ir_module *m) {
  p->changed =
      p->options->progress && pipeline_can_call(p->options, m) && progress_add_calls(m) > 0;
  return WEIR_OK;
}

static split_keeping keeping_of(const pass_ctx *p, const ir_module *m) {
  if (pipeline_can_call(p->options, m)) return SPLIT_KEEPS_BY_CALL;
  bool is_local = split_spread_of(m) != SPLIT_SHARDED;
  return p->machine->device && is_local ? SPLIT_KEEPS_BY_BARRIER : SPLIT_KEEPS_NOTHING;
}

static weir_status run_lower(pass_ctx *p, ir_module *m) {
  split_unshard_inputs(m);
  split_lower_loops(m, keeping_of(p, m));
  p->changed = true;
  return WEIR_OK;
}

/* XLA for devices does so itself, and takes nothing out that is larger than what it is made of.
 * Estimates of programs that are spread are of all devices. */
static weir_status run_hoist(pass_ctx *p, ir_module *m) {
  split_order *order = p->user;
  int64_t limit = order->limit_bytes;
  bool may = !plan_hoists(order->order) && (limit ? order->fits : order->goal.threshold_bytes > 0);
  if (order->no_hoisting || !may || !pipeline_can_call(p->options, m)) return WEIR_OK;
  hoist_room room = {order->order, limit, limit ? 0 : order->goal.threshold_bytes, 0, 0};
  p->changed = hoist_invariants(m, p->machine, &room) > 0;
  order->hoisted_bytes = room.moved_bytes;
  order->peak_bytes = max64(order->peak_bytes, room.peak_bytes);
  return WEIR_OK;
}

static weir_status run_materialise(pass_ctx *p, ir_module *m) {
  split_order *order = p->user;
  bool may = order->limit_bytes ? order->fits : !order->goal.threshold_bytes;
  if (!may || !pipeline_can_call(p->options, m)) return WEIR_OK;
  materialise_room room = {.order = order->order, .limit_bytes = order->limit_bytes};
  p->changed = order->is_written = materialise_repeated(m, p->machine, &room) > 0;
  if (p->changed && room.limit_bytes) order->peak_bytes = room.peak_bytes;
  return WEIR_OK;
}

const pass pass_split = {"split", run_split}, pass_kernels = {"kernels", run_kernels},
           pass_progress = {"progress", run_progress}, pass_lower = {"lower", run_lower},
           pass_hoist = {"hoist", run_hoist}, pass_materialise = {"materialise", run_materialise};

const pass_row pipeline_passes[] = {
#define PASS(id, name, phase, exact, use, doc) {&pass_##id, name, PASS_##phase, exact, PASS_##use},
#define SETTING(id, name, doc) {NULL, name, PASS_LOOPS, false, PASS_SPLIT},
#include "pass/passes.def"
    {0}};

/* ---- what is run when ---- */
static bool may_be_needed(const pass_row *row) {
  return row->use == PASS_NEEDED || row->use == PASS_RIVAL;
}

static bool is_run(const pass_row *row, pipeline_purpose why) {
  if (row->use == PASS_ALWAYS) return true;
  switch (why) {
    case PREPARE_AS_IT_CAME: return false;
    case PREPARE_FOR_SPEED: return row->use == PASS_SPEED || (row->is_exact && !may_be_needed(row));
    case PREPARE_PLAINLY: return !may_be_needed(row);
    case PREPARE_SHARDED: return row->pass != &pass_per_device;
    case PREPARE_FOR_A_SPLIT: break;
  }
  return true;
}

/* What lost its uses goes at once: passes count users. */
static weir_status run_row(pass_driver *d, const pass_row *row, ir_module *m,
                           pipeline_changes *in_out) {
  bool changed;
  WEIR_TRY(pass_run(d, row->pass, m, &changed));
  in_out->replaced |= changed && (row->use == PASS_WORTH || row->use == PASS_RIVAL);
  in_out->needed |= changed && may_be_needed(row);
  return changed ? pass_run(d, &pass_dce, m, NULL) : WEIR_OK;
}

/* What a phase leaves is simplified, so that no pass has to fold what it builds. */
static weir_status run_phase(pass_driver *d, pass_phase phase, pipeline_purpose why, ir_module *m,
                             pipeline_changes *in_out) {
  static const pass_row last = {.pass = &pass_simplify};
  for (const pass_row *row = pipeline_passes; row->name; row++) {
    if (!row->pass || row->phase != phase || !is_run(row, why)) continue;
    CTX_CHECK(d->c, row->is_exact || why != PREPARE_AS_IT_CAME);
    WEIR_TRY(run_row(d, row, m, in_out));
  }
  return run_row(d, &last, m, in_out);
}

static weir_status run_phases(pass_driver *d, pipeline_purpose why, ir_module *m,
                              pipeline_changes *in_out) {
  WEIR_TRY(run_phase(d, PASS_CANONICAL, why, m, in_out));
  if (why != PREPARE_AS_IT_CAME && split_spread_of(m) == SPLIT_SHARDED)
    return WEIR_OK; /* costs are of one device */
  WEIR_TRY(run_phase(d, PASS_ALGEBRA, why, m, in_out));
  return run_phase(d, PASS_READS, why, m, in_out);
}

weir_status pipeline_prepare(job *j, pipeline_purpose why, int64_t limit_bytes, ir_module *m,
                             pipeline_changes *out_changes) {
  weir_options under = j->options;
  CTX_CHECK(&j->c, limit_bytes >= 0);
  pass_driver d = j->driver;
  pipeline_changes changes = {0};
  under.memory_limit_bytes = limit_bytes;
  d.options = &under;
  d.is_for_speed = why == PREPARE_FOR_SPEED;
  WEIR_TRY(run_phases(&d, why, m, &changes));
  j->driver.stopped = d.stopped;
  if (out_changes) *out_changes = changes;
  return WEIR_OK;
}

static strbuf text_of(arena *a, const ir_module *m) {
  strbuf text = strbuf_make(a);
  out_stablehlo_text(m, &text);
  return text;
}

bool pipeline_is_alike(const ir_module *x, const ir_module *y) {
  if (x->ops.count != y->ops.count || x->values.count != y->values.count) return false;
  arena *a = arena_create(x->ctx);
  strbuf one = text_of(a, x), other = text_of(a, y);
  bool is = one.length == other.length && !memcmp(one.text, other.text, one.length);
  arena_destroy(a);
  return is;
}

weir_status pipeline_tidy(job *j, ir_module *m) { return pass_run(&j->driver, &pass_dce, m, NULL); }

bool pipeline_fit_is_on(const job *j) {
  const pass_driver *d = &j->driver;
  return pass_is_on(d, "fit") && pass_is_on(d, "split") && pass_is_on(d, "kernels");
}

bool pipeline_slices_are_on(const job *j) {
  return pass_is_on(&j->driver, "slices") && pass_is_on(&j->driver, "split");
}

bool pipeline_functions_are_on(const job *j) { return pass_is_on(&j->driver, "functions"); }

static double least_gain_of(kernels_wanted kernels) {
  if (kernels == KERNELS_ALL) return 0;
  return kernels == KERNELS_WORTH_A_TRY ? TUNED_BOLD_GAIN : TUNED_KERNEL_GAIN;
}

/* What the options have to say. */
static void complete_order(job *j, const ir_module *m, split_order *order) {
  order->goal.no_streaming = !pass_is_on(&j->driver, "stream");
  order->goal.no_checkpoints = !pass_is_on(&j->driver, "checkpoint");
  order->goal.cuts_steps &= pass_is_on(&j->driver, "steps");
  order->goal.no_accumulators = !pass_is_on(&j->driver, "accumulators");
  order->no_kernels |= !pass_is_on(&j->driver, "kernels") || !pipeline_can_call(&j->options, m);
  order->machine = &j->machine;
  if (j->options.tile != WEIR_TILE_AUTO) order->kernels = KERNELS_ALL;
  order->least_gain = least_gain_of(order->kernels);
  order->goal.no_kernels |= order->no_kernels;
  order->goal.may_call = pipeline_can_call(&j->options, m);
}

static void report(job *j, ir_module *m, split_order *order) {
  order->made = made_of_split(m, order, j->options.data && !j->is_vast ? &j->machine : NULL);
  order->has_whiles = made_has_whiles(m, order);
  if (j->is_vast) return;
  order->flops = plan_flops(m);
  order->time_ns = plan_time_ns(m, &j->machine);
}

/* In place; an order without a limit or threshold splits nothing. */
static weir_status split_module(job *j, ir_module *m, split_order *order) {
  bool is_candidate = !order->limit_bytes;
  pass_driver d = j->driver;
  complete_order(j, m, order);
  d.user = order;
  WEIR_TRY(pass_run(&d, &pass_split, m, NULL));
  WEIR_TRY(pass_run(&d, &pass_dce, m, NULL));
  CTX_CHECK(&j->c, 0 <= order->n_checkpoints && order->n_checkpoints <= MOST_CHECKPOINTS);
  is_candidate |= order->fits || order->peak_bytes <= order->asked_bytes;
  if (!order->is_trial) {
    report(j, m, order);
    if (is_candidate) WEIR_TRY(pass_run(&d, &pass_kernels, m, NULL));
    WEIR_TRY(pass_run(&d, &pass_progress, m, NULL));
  }
  WEIR_TRY(pass_run(&d, &pass_lower, m, NULL));
  if (!order->is_trial) WEIR_TRY(pass_run(&d, &pass_hoist, m, NULL));
  WEIR_TRY(pass_run(&d, &pass_channels_last, m, NULL));
  WEIR_TRY(pass_run(&d, &pass_whole_sums, m, NULL));
  WEIR_TRY(pass_run(&d, &pass_dce, m, NULL));
  if (!order->is_trial) WEIR_TRY(pass_run(&d, &pass_materialise, m, NULL));
  if (order->has_cuts && order->peak_bytes > order->limit_bytes) splitter_judge(m, order);
  return WEIR_OK;
}

weir_status pipeline_split_copy(job *j, const ir_module *m, split_order *order, ir_module **out_m) {
  split_order asked = *order;
  *out_m = ir_module_clone(m);
  WEIR_TRY(split_module(j, *out_m, order));
  if (!order->is_torn) return WEIR_OK;
  ctx_log(&j->c, 2, "kernels and loops would have to agree on the same sums");
  ir_module_destroy(*out_m);
  asked.spurns_kernels = order->spurns_kernels;
  *order = asked;
  order->no_kernels = true;
  *out_m = ir_module_clone(m);
  return split_module(j, *out_m, order);
}

weir_status pipeline_materialise_copy(job *j, const ir_module *from, materialise_room *room,
                                      ir_module **out_m) {
  *out_m = NULL;
  bool is_local = split_spread_of(j->m) != SPLIT_SHARDED;
  if (!is_local || !pass_is_on(&j->driver, pass_materialise.name) ||
      !pipeline_can_call(&j->options, j->m))
    return WEIR_OK;
  ir_module *m = ir_module_clone(from ? from : j->m);
  if (!from) WEIR_TRY(pipeline_prepare(j, PREPARE_AS_IT_CAME, room->limit_bytes, m, NULL));
  if (materialise_repeated(m, &j->machine, room)) *out_m = m;
  else ir_module_destroy(m);
  return WEIR_OK;
}
