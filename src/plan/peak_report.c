/* What buffers hold, for people and for who looks for a seed: who holds the peak, and what is live
 * from step to step. */
#include <stdlib.h>

#include "plan/peak_assign.h"

/* ---- the report ---- */
static bool is_live_at(const plan_buffer *b, int64_t at) {
  for (uint32_t i = 0; i < b->n_live; i++)
    if (b->live[i].from <= at && at <= b->live[i].to) return true;
  return false;
}

/* As the program names it; IR_NONE: it does not. */
static ir_value named_value(const plan_assigner *a, const plan_value *v) {
  const plan_node *n = plan_node_get(a->g, v->node);
  if (n->results) return v->is_table ? IR_NONE : n->results[v->member];
  bool is_member = n->shape.is_tuple && n->op && n->kind == PLAN_OPAQUE &&
                   v->member < ir_op_get(a->g->m, n->op)->n_results;
  return v->is_table ? IR_NONE : is_member ? ir_result(a->g->m, n->op, v->member) : n->value;
}

/* The buffers that were merged into each, itself among them, in order; numbers from 1, 0: the end.
 */
typedef struct merges {
  uint32_t *first, *next;
} merges;

static merges merges_of(plan_assigner *a) {
  merges of = {ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers),
               ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers)};
  for (uint32_t k = a->n_buffers; k-- > 0;) {
    uint32_t into = plan_merged(a, k);
    of.next[k] = of.first[into];
    of.first[into] = k + 1;
  }
  return of;
}

/* The value in the buffer at that time; one that was there before if what is there now has no
 * name (what a loop captured is part of its state). */
static ir_value name_of(const plan_assigner *a, const merges *of, uint32_t index, int64_t at) {
  ir_value best = IR_NONE;
  int64_t best_from = -1;
  bool best_lives = false;
  for (uint32_t next = of->first[index]; next; next = of->next[next - 1]) {
    uint32_t k = next - 1;
    for (uint32_t i = 0; i < a->buffers[k].count; i++) {
      const plan_value *v = &a->values[a->by_class[a->buffers[k].first + i]];
      ir_value named = named_value(a, v);
      bool lives = v->live.to >= at;
      if (!named || v->live.from > at || (best_lives && !lives) ||
          (best_lives == lives && v->live.from <= best_from))
        continue;
      best = named;
      best_from = v->live.from;
      best_lives = lives;
    }
  }
  return best;
}

static int by_holding(const void *x, const void *y) {
  const plan_holder *a = x, *b = y;
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

/* What is smaller is not worth a row: a thousandth of all, but never the largest, of which long
 * programs have thousands. */
static int64_t least_holder(const plan_assigner *a, int64_t at, int64_t temp_bytes) {
  int64_t largest = 0;
  for (const plan_buffer *b = a->buffers; b < a->buffers + a->n_buffers; b++)
    if (plan_counts(b) && b->bytes > largest && is_live_at(b, at)) largest = b->bytes;
  return largest / 8 < temp_bytes / 1000 ? largest / 8 : temp_bytes / 1000;
}

void plan_report_holders(plan_assigner *a, int64_t at, plan_peak *out) {
  plan_holder *holders = ARENA_ARRAY(a->g->arena, plan_holder, a->n_buffers);
  uint32_t n = 0;
  int64_t floor = least_holder(a, at, out->temp_bytes);
  merges of = merges_of(a);
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const plan_buffer *b = &a->buffers[i];
    if (!plan_counts(b) || b->bytes <= floor || !is_live_at(b, at)) continue;
    ir_value v = name_of(a, &of, i, at);
    if (v) holders[n++] = (plan_holder){v, ir_value_block(a->g->m, v), b->bytes};
  }
  qsort(holders, n, sizeof *holders, by_holding);
  out->holders = holders;
  out->n_holders = n;
  for (uint32_t id = 1; id < a->g->nodes.count; id++) {
    const plan_node *node = plan_node_get(a->g, id);
    if ((node->flags & PLAN_FLAG_LIVE) && node->op && a->time[id] <= at &&
        (!out->at || a->time[id] == at)) {
      if (a->time[id] == at) out->at = node->op;
    }
  }
}

/* ---- the time line, for people ---- */
typedef VEC(plan_step) steps;
typedef VEC(plan_span) spans;

typedef struct naming { /* from this time on the buffer holds this value */
  uint32_t buffer;
  int64_t from;
  ir_value value;
} naming;

static bool is_step(const plan_node *n) {
  return n->kind != PLAN_PARAMETER && n->kind != PLAN_BITCAST && n->kind != IR_OP_TUPLE &&
         n->kind != IR_OP_GET_TUPLE_ELEMENT && n->kind != IR_OP_CONSTANT;
}

/* step_at: by time, the step that it is in or, between two, the one that follows. */
static void list_steps(plan_assigner *a, uint32_t comp, int32_t depth, uint32_t *step_at,
                       steps *list) {
  const plan_comp *c = plan_comp_get(a->g, comp);
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(a->g, c->order[i]);
    for (uint32_t k = 0; k < n->n_comps; k++) list_steps(a, n->comps[k], depth + 1, step_at, list);
    if (!is_step(n)) continue;
    bool is_fused = n->kind == PLAN_FUSION && n->op;
    const char *word = plan_kind_name(is_fused ? (uint16_t)ir_kind_of(a->g->m, n->op) : n->kind);
    step_at[a->time[c->order[i]]] = list->count + 1;
    VEC_PUSH(a->g->arena, list, ((plan_step){n->op, word, depth}));
  }
  step_at[a->span[comp].to] = list->count + 1;
  VEC_PUSH(a->g->arena, list, ((plan_step){IR_NONE, depth ? "end of the trip" : "end", depth}));
}

static uint32_t *number_steps(plan_assigner *a, plan_timeline *out) {
  uint32_t *step_at = ARENA_ARRAY(a->g->arena, uint32_t, a->now + 2);
  steps list = {0};
  list_steps(a, a->g->entry, 0, step_at, &list);
  uint32_t next = list.count;
  for (int64_t t = a->now; t >= 0; t--) {
    if (step_at[t]) next = step_at[t];
    step_at[t] = next - 1;
  }
  out->steps = list.at;
  out->n_steps = list.count;
  return step_at;
}

static int by_buffer_and_start(const void *x, const void *y) {
  const naming *a = x, *b = y;
  if (a->buffer != b->buffer) return a->buffer < b->buffer ? -1 : 1;
  if (a->from != b->from) return a->from < b->from ? -1 : 1;
  return a->value < b->value ? -1 : a->value > b->value;
}

/* Which values each buffer holds one after the other; *out_n of them. */
static naming *names_of_buffers(plan_assigner *a, uint32_t *out_n) {
  naming *names = ARENA_ARRAY(a->g->arena, naming, a->n_values);
  uint32_t n = 0;
  for (uint32_t v = 1; v < a->n_values; v++) {
    ir_value value = a->values[v].passed_on ? IR_NONE : named_value(a, &a->values[v]);
    if (value)
      names[n++] = (naming){plan_merged(a, a->buffer_of[v]), a->values[v].live.from, value};
  }
  qsort(names, n, sizeof *names, by_buffer_and_start);
  *out_n = n;
  return names;
}

/* Of one buffer, cut where it begins to hold another value. What is there before the first that has
 * a name is called after that. */
static void add_spans(plan_assigner *a, uint32_t index, const naming *names, uint32_t n,
                      const uint32_t *step_at, spans *list) {
  const plan_buffer *b = &a->buffers[index];
  uint32_t k = 0;
  for (uint32_t i = 0; i < b->n_live; i++) {
    int64_t from = b->live[i].from, to = b->live[i].to;
    while (from <= to) {
      while (k + 1 < n && names[k + 1].from <= from) k++;
      int64_t end = k + 1 < n && names[k + 1].from <= to ? names[k + 1].from - 1 : to;
      plan_span s = {PLAN_TEMPORARY, n ? names[k].value : IR_NONE, b->bytes, step_at[from],
                     step_at[end]};
      CTX_CHECK(a->g->m->ctx, from <= end && s.from <= s.to);
      if (end < to && s.to > s.from && step_at[end + 1] == s.to) s.to--;
      VEC_PUSH(a->g->arena, list, s);
      from = end + 1;
    }
  }
}

static void add_held(plan_assigner *a, spans *list, uint32_t last) {
  const plan_graph *g = a->g;
  for (uint32_t i = 0; i < g->n_params; i++) {
    const plan_node *n = plan_node_get(g, plan_argument(g, i));
    plan_span s = {PLAN_ARGUMENT, n->value, n->shape.bytes, 0, last};
    VEC_PUSH(g->arena, list, s);
  }
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    const plan_node *n = plan_node_get(g, g->outputs[i]);
    plan_span s = {PLAN_RESULT, n->value, n->shape.bytes, 0, last};
    if (g->param_of_output[i] < 0) VEC_PUSH(g->arena, list, s);
  }
}

void plan_assign_spans(plan_graph *g, plan_timeline *out) {
  plan_assigner *a = plan_buffers_of(g);
  int64_t at;
  out->peak.temp_bytes = plan_place(a, INT64_MAX, &at);
  uint32_t *step_at = number_steps(a, out), n_names, from = 0;
  naming *names = names_of_buffers(a, &n_names);
  spans list = {0};
  add_held(a, &list, out->n_steps - 1);
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    while (from < n_names && names[from].buffer < i) from++;
    uint32_t to = from;
    while (to < n_names && names[to].buffer == i) to++;
    if (plan_counts(&a->buffers[i]) && a->buffers[i].bytes)
      add_spans(a, i, names + from, to - from, step_at, &list);
  }
  out->spans = list.at;
  out->n_spans = list.count;
  plan_report_holders(a, at, &out->peak);
}
