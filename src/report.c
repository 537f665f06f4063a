#include "report.h"

#include "plan/cost.h"
#include "plan/explain.h"
#include "plan/peak.h"
#include "result.h"
#include "split/loops.h"

enum { MOST_ROWS = 8 };

/* ---- loops ---- */
typedef struct gather {
  job *j;
  weir_status status;
} gather;

static int32_t depth_of(const ir_module *m, ir_op op) {
  int32_t depth = 0;
  for (ir_op up = ir_block_get(m, ir_op_get(m, op)->block)->parent; up; up = ir_op_get(m, up)->block ? ir_block_get(m, ir_op_get(m, up)->block)->parent : IR_NONE)
    depth += ir_kind_of(m, up) == IR_OP_LOOP;
  return depth;
}

static const char *seed_text(arena *a, const ir_module *m, ir_op loop) {
  const char *line = plan_source_line(a, m, ir_op_get(m, loop)->location), *seed = ir_op_string(m, loop, "seed");
  return arena_printf(a, "%s%s%s", seed ? seed : "?", line ? " at " : "", line ? line : "");
}

static int64_t largest_bytes(const ir_module *m, ir_block block) {
  int64_t largest = 0;
  for (uint32_t i = 0; i < ir_block_get(m, block)->ops.count; i++) {
    ir_op op = ir_block_get(m, block)->ops.at[i];
    for (uint32_t k = 0; k < ir_op_get(m, op)->n_results; k++) {
      int64_t bytes = ir_value_bytes(m, ir_result(m, op, k));
      if (bytes > largest) largest = bytes;
    }
  }
  return largest;
}

static void gather_loop(const ir_module *m, ir_op op, void *user) {
  gather *g = user;
  if (ir_kind_of(m, op) != IR_OP_LOOP || g->status != WEIR_OK) return;
  arena *a = arena_create(&g->j->c);
  split_loop l = split_loop_get((ir_module *)m, op);
  ir_block body = ir_op_get(m, op)->regions[0];
  weir_loop_info info = {.seed = seed_text(a, m, op), .extent = l.extent, .slice = l.slice, .trips = l.trips, .depth = depth_of(m, op),
                         .ops = (int32_t)ir_block_get(m, body)->ops.count, .body_peak_bytes = largest_bytes(m, body)};
  g->status = result_add_loop(&g->j->c, g->j->result, &info);
  arena_destroy(a);
}

weir_status report_loops(job *j, ir_module *m) {
  gather g = {j, WEIR_OK};
  result_clear_loops(j->result);
  ir_walk(m, ir_op_get(m, m->root)->regions[0], gather_loop, &g);
  j->result->summary.flops_after = plan_flops(m);
  return g.status;
}

/* ---- the table ---- */
static void put_peak(job *j, strbuf *out, const char *when, const ir_module *m, plan_order order, int64_t xla_bytes) {
  plan_peak p = plan_peak_of(out->arena, m, order);
  strbuf_printf(out, "%s: ", when);
  plan_explain_peak(m, &p, out, MOST_ROWS);
  if (j->options.referee && xla_bytes > 0) strbuf_printf(out, "XLA reports %s\n", plan_bytes_text(out->arena, xla_bytes));
}

static void put_loops(job *j, strbuf *out) {
  const weir_result *r = j->result;
  if (r->summary.loops == 0) return;
  strbuf_printf(out, "loops: %d\n%12s %10s %10s %6s %14s  %s\n", (int)r->summary.loops, "extent", "slice", "trips", "ops", "largest slice", "dissolves");
  for (int32_t i = 0; i < r->summary.loops; i++) {
    const weir_loop_info *l = &r->loops[i];
    strbuf_printf(out, "%12lld %10lld %10lld %6d %14s  %*s%s\n", (long long)l->extent, (long long)l->slice, (long long)l->trips, (int)l->ops,
                  plan_bytes_text(out->arena, l->body_peak_bytes), 2 * (int)l->depth, "", l->seed);
  }
  int64_t before = r->summary.flops_before, after = r->summary.flops_after;
  if (before > 0) strbuf_printf(out, "flops: %.3g before, %.3g after (%+.1f %%)\n", (double)before, (double)after, 100.0 * ((double)after / (double)before - 1));
}

weir_status report_explain(job *j) {
  arena *a = arena_create(&j->c);
  strbuf out = strbuf_make(a);
  weir_summary *s = &j->result->summary;
  if (s->limit_bytes) strbuf_printf(&out, "limit: %s\n", plan_bytes_text(a, s->limit_bytes));
  put_peak(j, &out, "before", j->m, PLAN_ORDER_PROGRAM, s->peak_before_bytes);
  if (j->rewritten) {
    put_peak(j, &out, "after", j->rewritten, PLAN_ORDER_MEMORY, s->peak_after_bytes);
    put_loops(j, &out);
  } else if (j->result->outcome == WEIR_UNTOUCHED) strbuf_puts(&out, "the program is left untouched\n");
  else strbuf_puts(&out, "the program is left as it is, compiled with other options\n");
  weir_status status = result_set_explain(&j->c, j->result, out.text);
  arena_destroy(a);
  return status;
}
