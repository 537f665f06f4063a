#include "pipeline/made.h"

#include "ir/attrs.h"
#include "plan/cost.h"
#include "plan/explain.h"
#include "split/loops.h"

static int32_t depth_of(const ir_module *m, ir_op op) {
  int32_t depth = 0;
  for (ir_op up = ir_op_around(m, op); up; up = ir_op_around(m, up))
    depth += ir_kind_of(m, up) == IR_OP_LOOP;
  return depth;
}

static const char *seed_text(arena *a, const ir_module *m, ir_op loop) {
  const char *line = plan_source_line(a, m, ir_op_get(m, loop)->location);
  const char *seed = ir_op_string(m, loop, "seed");
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

typedef struct gather {
  arena *a;
  made_loops *list;
  bool kernels;      /* all are */
  const machine *on; /* NULL: no times */
} gather;

static void gather_loop(const ir_module *m, ir_op op, void *user) {
  gather *g = user;
  if (ir_kind_of(m, op) != IR_OP_LOOP) return;
  split_loop l = split_loop_get((ir_module *)m, op);
  ir_block body = ir_op_get(m, op)->regions[0];
  weir_loop_info info = {.seed = seed_text(g->a, m, op),
                         .extent = l.extent,
                         .slice = l.slice,
                         .trips = l.trips,
                         .depth = depth_of(m, op),
                         .ops = (int32_t)ir_block_get(m, body)->ops.count,
                         .body_peak_bytes = largest_bytes(m, body),
                         .is_kernel = g->kernels || ir_op_int(m, op, "scratch", -1) >= 0};
  if (g->on) info.time_ns = (int64_t)plan_loop_time_ns((ir_module *)m, op, g->on);
  VEC_PUSH(g->a, g->list, info);
}

static void gather_loops(gather *g, const ir_module *m) {
  ir_walk(m, ir_op_get(m, m->root)->regions[0], gather_loop, g);
}

/* A loop over segments: its factor is the trips of the loop that it was made of. */
static weir_loop_info of_checkpoints(arena *a, const ir_module *m, const split_checkpoints *c) {
  const char *line = plan_source_line(a, m, c->location);
  return (weir_loop_info){.seed = arena_printf(a, "while %s%s%s", plan_shape_text(a, m, c->stack),
                                               line ? " at " : "", line ? line : ""),
                          .extent = c->trips,
                          .slice = c->segment,
                          .trips = (c->trips + c->segment - 1) / c->segment};
}

made_loops made_of_split(ir_module *m, const split_order *order, const machine *on) {
  made_loops list = {0};
  gather_loops(&(gather){m->arena, &list, false, on}, m);
  for (int32_t i = 0; i < order->n_checkpoints; i++)
    VEC_PUSH(m->arena, &list, of_checkpoints(m->arena, m, &order->checkpoints[i]));
  return list;
}

void made_add_kernels(arena *a, const ir_module *m, made_loops *list) {
  gather_loops(&(gather){a, list, true, NULL}, m);
}
