#include "pipeline/made.h"

#include "base/ints.h"
#include "base/saturate.h"
#include "ir/attrs.h"
#include "plan/cost.h"
#include "plan/explain.h"
#include "split/loops.h"

static const char *seed_text(arena *a, const ir_module *m, ir_op loop) {
  const char *line = plan_source_line(a, m, ir_op_get(m, loop)->location);
  const char *seed = ir_op_string(m, loop, "seed");
  return arena_printf(a, "%s%s%s", seed ? seed : "?", line ? " at " : "", line ? line : "");
}

static int64_t largest_bytes(const ir_module *m, ir_block block) {
  int64_t largest = 0;
  for (ir_op op, i = 0; (op = ir_op_at(m, block, i)); i++)
    largest = max64(largest, ir_largest_bytes(m, op));
  return largest;
}

static weir_loop_info info_of(arena *a, const ir_module *m, ir_op loop) {
  ir_loop l = ir_loop_get(m, loop);
  ir_block body = ir_body(m, loop);
  return (weir_loop_info){.seed = seed_text(a, m, loop),
                          .extent = l.extent,
                          .slice = l.slice,
                          .trips = l.trips,
                          .ops = (int32_t)ir_block_get(m, body)->ops.count,
                          .body_peak_bytes = largest_bytes(m, body),
                          .is_kernel = ir_op_attr(m, loop, "kernel_ns") != IR_NONE};
}

/* A loop over segments: its factor is the trips of the loop that it was made of. */
static weir_loop_info info_of_segments(arena *a, const ir_module *m, ir_op loop,
                                       const split_checkpoints *c) {
  ir_block body = ir_while_body(m, loop);
  const char *line = plan_source_line(a, m, c->location);
  return (weir_loop_info){.seed = arena_printf(a, "while %s%s%s", plan_shape_text(a, m, c->stack),
                                               line ? " at " : "", line ? line : ""),
                          .extent = c->trips,
                          .slice = c->segment,
                          .trips = (c->trips + c->segment - 1) / c->segment,
                          .ops = (int32_t)ir_block_get(m, body)->ops.count,
                          .body_peak_bytes = largest_bytes(m, body)};
}

/* ---- all of them, each before those in it ---- */
/* Of whom the while is a loop over segments; NULL: it is none. */
static const split_checkpoints *segments_of(const split_order *order, ir_op op) {
  for (int32_t i = 0; i < order->n_checkpoints; i++)
    for (uint32_t k = 0; k < order->checkpoints[i].loops.count; k++)
      if (order->checkpoints[i].loops.at[k] == op) return &order->checkpoints[i];
  return NULL;
}

static bool is_made(const ir_module *m, const split_order *order, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_LOOP || segments_of(order, op);
}

static weir_loop_info info_of_made(ir_module *m, const split_order *order, ir_op op) {
  const split_checkpoints *c = segments_of(order, op);
  weir_loop_info info = c ? info_of_segments(m->arena, m, op, c) : info_of(m->arena, m, op);
  for (ir_op up = ir_op_around(m, op); up; up = ir_op_around(m, up))
    info.depth += is_made(m, order, up);
  return info;
}

made_loops made_of_split(ir_module *m, const split_order *order, const machine *on) {
  made_loops list = {0};
  for (ir_walk w = ir_walk_block(m, ir_top(m)); ir_next(&w);) {
    if (!is_made(m, order, w.op) || split_is_in_kernel(m, w.op)) continue;
    weir_loop_info info = info_of_made(m, order, w.op);
    if (on) info.time_ns = saturated_int(plan_loop_time_ns(m, w.op, on));
    VEC_PUSH(m->arena, &list, info);
  }
  return list;
}

static bool is_repeated(const ir_module *m, ir_op op) {
  return ir_kind_of(m, op) == IR_OP_WHILE && ir_is_within(m, ir_op_get(m, op)->block, IR_OP_LOOP);
}

bool made_has_whiles(const ir_module *m, const split_order *order) {
  return order->n_checkpoints || ir_any(ir_walk_block(m, ir_top(m)), is_repeated);
}

void made_add_kernel(arena *a, ir_module *m, ir_op loop, const machine *on, made_loops *list) {
  weir_loop_info info = info_of(a, m, loop);
  info.time_ns = saturated_int(plan_loop_time_ns(m, loop, on));
  VEC_PUSH(a, list, info);
}

made_loops made_copy(arena *a, const made_loops *list) {
  made_loops copy = {0};
  for (uint32_t i = 0; i < list->count; i++) {
    weir_loop_info info = list->at[i];
    info.seed = arena_strdup(a, info.seed, strlen(info.seed));
    VEC_PUSH(a, &copy, info);
  }
  return copy;
}
