/* The passes in order. */
#include "pipeline.h"
#include "progress_calls.h"
#include "report.h"
#include "result.h"
#include "split/loops.h"
#include "tiles.h"

static weir_status run_split(pass_ctx *p, ir_module *m, bool *out_changed) {
  split_order *order = p->user;
  if (!order) return WEIR_OK;
  if (order->limit_bytes && !order->by_size) splitter_to_fit(m, order);
  else splitter_above_threshold(m, order);
  order->is_torn = !order->no_tiles && !tiles_are_alike(m);
  *out_changed = order->loops > 0;
  return WEIR_OK;
}

static const double WORTH_A_TILE = 1.2; /* gain in speed, under WEIR_TILE_AUTO */

bool pipeline_can_call(const weir_options *o, const ir_module *m) {
  return !strcmp(o->platform, "cpu") && ir_op_int(m, m->root, "mhlo.num_partitions", 1) == 1;
}

static weir_status run_tile(pass_ctx *p, ir_module *m, bool *out_changed) {
  split_order *order = p->user;
  if (!order || order->no_tiles) return WEIR_OK;
  order->n_tiles = tiles_replace_loops(m, order->machine, order->least_gain).count;
  *out_changed = order->n_tiles > 0;
  return WEIR_OK;
}

static weir_status run_progress(pass_ctx *p, ir_module *m, bool *out_changed) {
  *out_changed =
      p->options->progress && pipeline_can_call(p->options, m) && progress_add_calls(m) > 0;
  return WEIR_OK;
}

static weir_status run_lower(pass_ctx *p, ir_module *m, bool *out_changed) {
  split_unshard_inputs(m);
  split_lower_loops(m, pipeline_can_call(p->options, m));
  *out_changed = true;
  return WEIR_OK;
}

static weir_status run_nothing(pass_ctx *p, ir_module *m, bool *out_changed) {
  (void)p, (void)m, (void)out_changed;
  return WEIR_OK;
}

/* "stream", "checkpoint" and "totals" are ways of splitting, "fit" one of using tiles, not passes
 * of their own: --skip=stream. */
static const pass pass_parse = {"parse", run_nothing}, pass_split = {"split", run_split},
                  pass_stream = {"stream", run_nothing},
                  pass_checkpoint = {"checkpoint", run_nothing},
                  pass_totals = {"totals", run_nothing}, pass_fit = {"fit", run_nothing},
                  pass_tile = {"tile", run_tile}, pass_progress = {"progress", run_progress},
                  pass_lower = {"lower", run_lower};

/* clang-format off */
const pass *const pipeline_passes[] = {
  &pass_parse,
  &pass_inline,
  &pass_join,
  &pass_unbundle,
  &pass_simplify,
  &pass_fold_transpose,
  &pass_cse,
  &pass_normalise,
  &pass_centre,
  &pass_diagonal,
  &pass_distance,
  &pass_dce,
  &pass_sums,
  &pass_pad,
  &pass_cut,
  &pass_chain,
  &pass_distribute,
  &pass_topk,
  &pass_ravel,
  &pass_quantile,
  &pass_elements,
  &pass_solve,
  &pass_split,
  &pass_stream,
  &pass_checkpoint,
  &pass_totals,
  &pass_fit,
  &pass_tile,
  &pass_progress,
  &pass_lower,
  &pass_channels_last,
  NULL};
/* clang-format on */

/* Passes after which the program is worth having even if nothing is split. */
static weir_status run_replacing(job *j, const pass *p, ir_module *m) {
  bool changed;
  WEIR_TRY(pass_run(&j->driver, p, m, &changed));
  j->replaced |= changed;
  return WEIR_OK;
}

/* What is exact and says the same more plainly. */
static weir_status flatten(job *j, ir_module *m) {
  WEIR_TRY(pass_run(&j->driver, &pass_parse, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_inline, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_join, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_unbundle, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_simplify, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_fold_transpose, m, NULL));
  return pass_run(&j->driver, &pass_cse, m, NULL);
}

weir_status pipeline_prepare_exactly(job *j, ir_module *m) {
  WEIR_TRY(flatten(j, m));
  WEIR_TRY(pass_run(&j->driver, &pass_topk, m, NULL));
  return pass_run(&j->driver, &pass_dce, m, NULL);
}

weir_status pipeline_tidy(job *j, ir_module *m) { return pass_run(&j->driver, &pass_dce, m, NULL); }

bool pipeline_fit_is_on(const job *j) {
  return pass_is_on(&j->driver, &pass_fit) && pass_is_on(&j->driver, &pass_split) &&
         pass_is_on(&j->driver, &pass_tile);
}

weir_status pipeline_prepare(job *j, ir_module *m) {
  WEIR_TRY(flatten(j, m));
  if (split_spread_of(m) == SPLIT_SHARDED) /* what follows counts the costs of one device */
    return pass_run(&j->driver, &pass_dce, m, NULL);
  WEIR_TRY(pass_run(&j->driver, &pass_normalise, m, NULL));
  WEIR_TRY(run_replacing(j, &pass_centre, m));
  WEIR_TRY(run_replacing(j, &pass_diagonal, m));
  WEIR_TRY(run_replacing(j, &pass_distance, m));
  WEIR_TRY(pass_run(&j->driver, &pass_dce, m, NULL)); /* what follows counts users */
  WEIR_TRY(run_replacing(j, &pass_sums, m));
  WEIR_TRY(run_replacing(j, &pass_pad, m));
  WEIR_TRY(pass_run(&j->driver, &pass_dce, m, NULL));
  WEIR_TRY(run_replacing(j, &pass_cut, m));
  WEIR_TRY(run_replacing(j, &pass_chain, m));
  WEIR_TRY(pass_run(&j->driver, &pass_dce, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_distribute, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_topk, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_ravel, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_dce, m, NULL));
  WEIR_TRY(run_replacing(j, &pass_quantile, m));
  WEIR_TRY(pass_run(&j->driver, &pass_elements, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_solve, m, NULL));
  return pass_run(&j->driver, &pass_dce, m, NULL);
}

/* What the options have to say. */
static void complete_order(job *j, const ir_module *m, split_order *order) {
  order->goal.no_streaming = !pass_is_on(&j->driver, &pass_stream);
  order->goal.no_checkpoints = !pass_is_on(&j->driver, &pass_checkpoint);
  order->goal.no_totals = !pass_is_on(&j->driver, &pass_totals);
  order->no_tiles |= !pass_is_on(&j->driver, &pass_tile) || !pipeline_can_call(&j->options, m);
  order->machine = &j->machine;
  order->least_gain = j->options.tile == WEIR_TILE_AUTO ? WORTH_A_TILE : 0;
  if (!order->no_tiles) order->goal.least_slice = 2;
  order->goal.no_kernels |= order->no_tiles;
}

weir_status pipeline_split(job *j, ir_module *m, split_order *order) {
  if (order) complete_order(j, m, order);
  j->driver.user = order;
  WEIR_TRY(pass_run(&j->driver, &pass_split, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_dce, m, NULL));
  if (!j->probing) {
    bool is_candidate = !order || !order->limit_bytes || order->fits;
    WEIR_TRY(report_loops(j, m, order));
    if (is_candidate) WEIR_TRY(pass_run(&j->driver, &pass_tile, m, NULL));
    WEIR_TRY(pass_run(&j->driver, &pass_progress, m, NULL));
  }
  WEIR_TRY(pass_run(&j->driver, &pass_lower, m, NULL));
  WEIR_TRY(pass_run(&j->driver, &pass_channels_last, m, NULL));
  return pass_run(&j->driver, &pass_dce, m, NULL);
}
