/* Which values become seeds, in which order: the largest above a threshold, or the holders of the peak until it is under the limit. */
#include "pipeline.h"
#include "plan/peak.h"
#include "split/loops.h"
#include "split/sink.h"

enum { MOST_ROUNDS = 200 };

/* Values that were tried and could not be dissolved; ids stay good while loops are built. */
typedef struct tried {
  arena *a;
  VEC(ir_value) values;
} tried;

static bool was_tried(const tried *t, ir_value v) {
  for (uint32_t i = 0; i < t->values.count; i++)
    if (t->values.at[i] == v) return true;
  return false;
}

static bool can_be_seed(const ir_module *m, ir_value v) {
  ir_op op = ir_value_get(m, v)->op;
  if (!op || !ir_is_static_tensor(m, ir_type_of(m, v))) return false;
  ir_kind kind = ir_kind_of(m, op);
  return kind != IR_OP_CONSTANT && kind != IR_OP_LOOP && kind != IR_OP_WHILE && kind != IR_OP_CASE && kind != IR_OP_IF;
}

/* Splits the region of one seed, or moves it to where it can be split; false if neither helps. */
static bool split_seed(ir_module *m, ir_block block, ir_value seed, const split_goal *goal) {
  arena *scratch = arena_create(m->ctx);
  split_choice choice;
  bool found = split_choose(scratch, m, block, seed, goal, &choice) && choice.slice < choice.region->extent;
  if (found) {
    ctx_log(m->ctx, 3, "split %s: extent %lld, slice %lld, %d stages, %u members, %d reductions, held %lld", ir_op_name(m, ir_value_get(m, seed)->op),
            (long long)choice.region->extent, (long long)choice.slice, choice.region->n_stages, choice.region->members.count, choice.reductions,
            (long long)choice.region->held_bytes);
    split_build_loops(choice.region, choice.slice);
  } else {
    found = split_sink(m, block, seed, goal->threshold_bytes);
    if (found) ctx_log(m->ctx, 3, "sink %s into the regions that read it", ir_op_name(m, ir_value_get(m, seed)->op));
  }
  arena_destroy(scratch);
  return found;
}

static ir_block main_block(const ir_module *m) {
  ir_op f = ir_main_function(m);
  return f ? ir_op_get(m, f)->regions[0] : IR_NONE;
}

/* ---- first: what could never be held but is read inside a while or a branch ---- */
typedef struct sink_search {
  const split_goal *goal;
  ir_value value;
  ir_block block;
  const tried *tried;
} sink_search;

static void find_sinkable(const ir_module *m, ir_op op, void *user) {
  sink_search *s = user;
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_results; i++) {
    ir_value v = d->first_result + i;
    if (s->value || ir_value_bytes(m, v) <= s->goal->hold_bytes || !can_be_seed(m, v) || was_tried(s->tried, v)) continue;
    s->value = v;
    s->block = d->block;
  }
}

static void sink_unholdable(ir_module *m, ir_block top, const split_goal *goal) {
  tried t = {.a = arena_create(m->ctx)};
  for (sink_search s;;) {
    s = (sink_search){.goal = goal, .tried = &t};
    ir_walk(m, top, find_sinkable, &s);
    if (!s.value) break;
    VEC_PUSH(t.a, &t.values, s.value);
    if (split_sink(m, s.block, s.value, goal->threshold_bytes)) ctx_log(m->ctx, 3, "sink %s into the regions that read it", ir_op_name(m, ir_value_get(m, s.value)->op));
  }
  arena_destroy(t.a);
}

/* ---- by threshold ---- */
typedef struct largest {
  const tried *tried;
  int64_t bytes;
  ir_value value;
  ir_block block;
} largest;

static void consider(const ir_module *m, ir_op op, void *user) {
  largest *l = user;
  const ir_op_data *d = ir_op_get(m, op);
  for (uint32_t i = 0; i < d->n_results; i++) {
    ir_value v = d->first_result + i;
    int64_t bytes = ir_value_bytes(m, v);
    if (bytes <= l->bytes || !can_be_seed(m, v) || was_tried(l->tried, v)) continue;
    *l = (largest){l->tried, bytes, v, d->block};
  }
}

void splitter_above_threshold(ir_module *m, split_order *order) {
  tried t = {.a = arena_create(m->ctx)};
  ir_block top = main_block(m);
  if (top) sink_unholdable(m, top, &order->goal);
  while (top) {
    largest l = {.tried = &t, .bytes = order->goal.threshold_bytes};
    ir_walk(m, top, consider, &l);
    if (!l.value) break;
    VEC_PUSH(t.a, &t.values, l.value);
    order->loops += split_seed(m, l.block, l.value, &order->goal);
  }
  arena_destroy(t.a);
}

/* ---- until it fits ---- */
static bool split_a_holder(ir_module *m, const plan_peak *peak, const split_goal *goal, tried *t) {
  for (uint32_t i = 0; i < peak->n_holders; i++) {
    const plan_holder *h = &peak->holders[i];
    if (h->bytes <= goal->threshold_bytes || !can_be_seed(m, h->value) || was_tried(t, h->value)) continue;
    VEC_PUSH(t->a, &t->values, h->value);
    if (split_seed(m, h->block, h->value, goal)) return true;
  }
  return false;
}

void splitter_to_fit(ir_module *m, split_order *order) {
  tried t = {.a = arena_create(m->ctx)};
  order->fits = false;
  if (main_block(m)) sink_unholdable(m, main_block(m), &order->goal);
  for (int round = 0; round < MOST_ROUNDS && !order->fits; round++) {
    arena *scratch = arena_create(m->ctx);
    plan_peak peak = plan_peak_of(scratch, m, PLAN_ORDER_MEMORY);
    order->peak_bytes = peak.total_bytes;
    order->fits = peak.total_bytes <= order->limit_bytes;
    bool split = !order->fits && split_a_holder(m, &peak, &order->goal, &t);
    arena_destroy(scratch);
    order->loops += split;
    if (!split) break;
  }
  arena_destroy(t.a);
}
