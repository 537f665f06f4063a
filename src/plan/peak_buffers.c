/* Buffers: which values share one, and when each is live.
 *
 * Values that must be one buffer (a loop's state before, in and after the loop; a target and its
 * update in place; a donated argument and its result) form a class. The schedule is one time
 * line: a called computation's nodes stand before the node that calls it. A class is live in a
 * few intervals of it. A result written over an operand that dies there becomes one class with it.
 *
 * Source: XLA's buffer_assignment.cc, hlo_live_range.cc. */
#include <stdlib.h>

#include "plan/peak_assign.h"

/* ---- values ---- */
static uint32_t table_of(const plan_assigner *a, uint32_t node) {
  return plan_table_of(a->g, a->base, node);
}

static void number_node(plan_assigner *a, uint32_t id) {
  const plan_node *n = plan_node_get(a->g, id);
  uint32_t count = plan_values_of(n);
  for (uint32_t k = 0; k < count; k++) {
    bool is_table = n->shape.is_tuple && k + 1 == count;
    int64_t bytes = is_table || !n->shape.is_tuple ? n->shape.bytes : n->shape.members[k].bytes;
    a->values[a->base[id] + k] = (plan_value){
        .node = id, .member = k, .parent = a->base[id] + k, .is_table = is_table, .bytes = bytes};
  }
}

static void number_values(plan_assigner *a) {
  plan_graph *g = a->g;
  a->base = plan_number_values(g, &a->n_values);
  a->values = ARENA_ARRAY(g->arena, plan_value, a->n_values);
  for (uint32_t n = 1; n < g->nodes.count; n++)
    if (plan_node_get(g, n)->flags & PLAN_FLAG_LIVE) number_node(a, n);
}

/* The value behind an array node; 0: none (an element of a nested tuple). */
uint32_t plan_value_of(const plan_assigner *a, uint32_t node) {
  for (;;) {
    const plan_node *n = plan_node_get(a->g, node);
    if (n->kind == PLAN_BITCAST) node = n->operands[0];
    else if (n->kind == IR_OP_GET_TUPLE_ELEMENT) {
      const plan_node *t = plan_node_get(a->g, n->operands[0]);
      if (t->kind == IR_OP_TUPLE) node = t->operands[n->index];
      else
        return t->kind != IR_OP_GET_TUPLE_ELEMENT && n->index < t->shape.n_members
                   ? a->base[n->operands[0]] + n->index
                   : 0;
    } else return n->shape.is_tuple ? 0 : a->base[node];
  }
}

static uint32_t member_of(const plan_assigner *a, uint32_t node, uint32_t member) {
  const plan_node *n = plan_node_get(a->g, node);
  if (n->kind == IR_OP_TUPLE) return plan_value_of(a, n->operands[member]);
  return n->shape.is_tuple ? a->base[node] + member : plan_value_of(a, node);
}

static uint32_t find(plan_assigner *a, uint32_t v) {
  while (a->values[v].parent != v) v = a->values[v].parent = a->values[a->values[v].parent].parent;
  return v;
}

static void unite(plan_assigner *a, uint32_t x, uint32_t y) {
  if (x && y) a->values[find(a, y)].parent = find(a, x);
}

static void unite_loop(plan_assigner *a, uint32_t node) {
  const plan_node *n = plan_node_get(a->g, node);
  const plan_comp *cond = plan_comp_get(a->g, n->comps[0]),
                  *body = plan_comp_get(a->g, n->comps[1]);
  CTX_CHECK(a->g->m->ctx, n->n_operands == 1 && n->n_comps == 2); /* its state is one tuple */
  CTX_CHECK(a->g->m->ctx, plan_node_get(a->g, body->root)->n_operands == n->shape.n_members);
  uint32_t tables[4] = {table_of(a, n->operands[0]), table_of(a, cond->parameter),
                        table_of(a, body->parameter), table_of(a, body->root)};
  for (int k = 0; k < 4; k++) unite(a, table_of(a, node), tables[k]);
  for (uint32_t i = 0; i < n->shape.n_members; i++) {
    uint32_t v = a->base[node] + i;
    uint32_t states[3] = {v, member_of(a, cond->parameter, i), member_of(a, body->parameter, i)};
    bool carried = plan_is_carried(a->g, n->comps[1], i);
    for (int k = 0; k < 3; k++) {
      unite(a, v, states[k]);
      if (states[k]) a->values[states[k]].passed_on = !carried;
    }
    unite(a, v, member_of(a, n->operands[0], i));
    unite(a, v, member_of(a, body->root, i));
  }
}

static void unite_branches(plan_assigner *a, uint32_t node) {
  const plan_node *n = plan_node_get(a->g, node);
  uint32_t with_index = n->n_operands - n->n_comps; /* a case has one */
  CTX_CHECK(a->g->m->ctx, with_index <= 1);
  for (uint32_t r = 0; r < n->n_comps; r++) {
    const plan_comp *c = plan_comp_get(a->g, n->comps[r]);
    for (uint32_t i = 0; i < n->shape.n_members; i++)
      unite(a, a->base[node] + i, member_of(a, c->root, i));
    const plan_node *p = plan_node_get(a->g, c->parameter);
    for (uint32_t i = 0; i < p->shape.n_members; i++)
      unite(a, a->base[c->parameter] + i, member_of(a, n->operands[r + with_index], i));
  }
}

/* What a called computation is given and gives back are the caller's values. */
static void unite_call(plan_assigner *a, uint32_t node) {
  const plan_comp *c = plan_comp_get(a->g, plan_node_get(a->g, node)->comps[0]);
  unite_branches(a, node);
  a->values[a->base[node]].passed_on = true;
  for (uint32_t i = 0; i < plan_node_get(a->g, c->parameter)->shape.n_members; i++)
    a->values[a->base[c->parameter] + i].passed_on = true;
}

static void unite_values(plan_assigner *a) {
  plan_graph *g = a->g;
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    if (!(n->flags & PLAN_FLAG_LIVE)) continue;
    if (n->kind == IR_OP_WHILE) unite_loop(a, id);
    else if (n->kind == IR_OP_CASE) unite_branches(a, id);
    else if (n->kind == IR_OP_CALL && n->n_comps) unite_call(a, id);
    if (n->in_place) unite(a, a->base[id], plan_value_of(a, n->operands[n->in_place - 1]));
  }
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    int32_t argument = g->param_of_output[i];
    if (argument >= 0)
      unite(a, plan_value_of(a, g->outputs[i]), a->base[plan_argument(g, (uint32_t)argument)]);
  }
}

/* ---- the time line ---- */
static void lay_out(plan_assigner *a, uint32_t comp) {
  const plan_comp *c = plan_comp_get(a->g, comp);
  a->span[comp].from = ++a->now;
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(a->g, c->order[i]);
    for (uint32_t k = 0; k < n->n_comps; k++) lay_out(a, n->comps[k]);
    a->time[c->order[i]] = n->kind == PLAN_PARAMETER ? a->span[comp].from : ++a->now;
  }
  a->span[comp].to = ++a->now;
}

static void use(plan_assigner *a, uint32_t v, int64_t at) {
  if (v && a->values[v].live.to < at) a->values[v].live.to = at;
}

static void use_all(plan_assigner *a, uint32_t node, int64_t at) {
  const plan_node *n = plan_node_get(a->g, node);
  use(a, table_of(a, node), at);
  if (n->kind == IR_OP_TUPLE)
    for (uint32_t i = 0; i < n->n_operands; i++) use_all(a, n->operands[i], at);
  else if (n->shape.is_tuple)
    for (uint32_t i = 0; i < n->shape.n_members && n->kind != IR_OP_GET_TUPLE_ELEMENT; i++)
      use(a, a->base[node] + i, at);
  else use(a, plan_value_of(a, node), at);
}

static void find_live_ranges(plan_assigner *a) {
  plan_graph *g = a->g;
  for (uint32_t v = 1; v < a->n_values; v++)
    a->values[v].live.from = a->values[v].live.to = a->time[a->values[v].node];
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    if (!(n->flags & PLAN_FLAG_LIVE) || n->kind == PLAN_BITCAST || n->kind == IR_OP_TUPLE) continue;
    if (n->kind == IR_OP_GET_TUPLE_ELEMENT) {
      use(a, table_of(a, n->operands[0]), a->time[id]);
      continue;
    }
    for (uint32_t i = 0; i < n->n_operands; i++) {
      CTX_CHECK(g->m->ctx, a->time[n->operands[i]] <= a->time[id]);
      use_all(a, n->operands[i], a->time[id]);
    }
  }
  for (uint32_t c = 1; c < g->comps.count; c++)
    if (a->span[c].to) use_all(a, plan_comp_get(g, c)->root, a->span[c].to);
}

/* ---- classes ---- */
static _Thread_local plan_assigner
    *sorting; /* qsort has no argument for it; set and used in one call */

static int by_class_and_start(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  const plan_value *v = &sorting->values[a], *w = &sorting->values[b];
  if (v->parent != w->parent) return v->parent < w->parent ? -1 : 1;
  if (v->live.from != w->live.from) return v->live.from < w->live.from ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Intervals of one buffer, in time, apart from each other. */
static bool is_ascending(const plan_interval *live, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (live[i].from > live[i].to || (i && live[i].from <= live[i - 1].to)) return false;
  return true;
}

static void merge_intervals(plan_assigner *a, plan_buffer *b) {
  b->live = ARENA_ARRAY(a->g->arena, plan_interval, b->count);
  for (uint32_t i = 0; i < b->count; i++) {
    const plan_value *v = &a->values[a->by_class[b->first + i]];
    CTX_CHECK(a->g->m->ctx, v->bytes >= 0 && v->live.from <= v->live.to);
    if (v->bytes > b->bytes) b->bytes = v->bytes;
    b->n_own += !v->passed_on;
    b->is_table |= v->is_table;
    const plan_node *n = plan_node_get(a->g, v->node);
    b->fixed |= n->kind == IR_OP_CONSTANT ||
                (n->kind == PLAN_PARAMETER && n->comp == a->g->entry && !v->is_table);
    if (b->n_live && b->live[b->n_live - 1].to >= v->live.from) {
      if (b->live[b->n_live - 1].to < v->live.to) b->live[b->n_live - 1].to = v->live.to;
    } else b->live[b->n_live++] = v->live;
  }
  CTX_CHECK(a->g->m->ctx, b->n_live && is_ascending(b->live, b->n_live));
}

static uint64_t sketch_of(const plan_assigner *a, const plan_interval *live, uint32_t count) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; i++) {
    int64_t from = live[i].from * 64 / (a->now + 1), to = live[i].to * 64 / (a->now + 1);
    CTX_CHECK(a->g->m->ctx, 0 <= from && from <= to && to < 64);
    bits |= (~(uint64_t)0 >> (63 - (to - from))) << from;
  }
  return bits;
}

static void make_buffers(plan_assigner *a) {
  arena *s = a->g->arena;
  a->by_class = ARENA_ARRAY(s, uint32_t, a->n_values);
  a->buffer_of = ARENA_ARRAY(s, uint32_t, a->n_values);
  a->buffers = ARENA_ARRAY(s, plan_buffer, a->n_values);
  for (uint32_t v = 1; v < a->n_values; v++)
    a->values[v].parent = find(a, v), a->by_class[v - 1] = v;
  sorting = a;
  qsort(a->by_class, a->n_values - 1, sizeof *a->by_class, by_class_and_start);
  for (uint32_t i = 0; i + 1 < a->n_values; i++) {
    bool new_class =
        i == 0 || a->values[a->by_class[i]].parent != a->values[a->by_class[i - 1]].parent;
    if (new_class) a->buffers[a->n_buffers++] = (plan_buffer){.first = i};
    a->buffers[a->n_buffers - 1].count++;
    a->buffer_of[a->by_class[i]] = a->n_buffers - 1;
  }
  for (plan_buffer *b = a->buffers; b < a->buffers + a->n_buffers; b++) {
    merge_intervals(a, b);
    b->sketch = sketch_of(a, b->live, b->n_live);
  }
  for (uint32_t i = 0; i < a->g->n_outputs; i++) {
    uint32_t v = plan_value_of(a, a->g->outputs[i]);
    if (v) a->buffers[a->buffer_of[v]].is_output = true;
  }
}

plan_assigner *plan_buffers_of(plan_graph *g) {
  plan_assigner *a = ARENA_NEW(g->arena, plan_assigner);
  *a = (plan_assigner){.g = g,
                       .time = ARENA_ARRAY(g->arena, int64_t, g->nodes.count),
                       .span = ARENA_ARRAY(g->arena, plan_interval, g->comps.count)};
  number_values(a);
  unite_values(a);
  lay_out(a, g->entry);
  find_live_ranges(a);
  make_buffers(a);
  assert(a->n_buffers <= a->n_values);
  return a;
}

/* ---- sharing ---- */
/* Near constant: what is asked for is remembered on the way. */
uint32_t plan_merged(plan_assigner *a, uint32_t b) {
  uint32_t to = b;
  while (a->buffers[to].merged_into) to = a->buffers[to].merged_into - 1;
  while (b != to) {
    uint32_t next = a->buffers[b].merged_into - 1;
    a->buffers[b].merged_into = to + 1;
    b = next;
  }
  return to;
}

/* XLA does not share buffers that hold several values as it is. */
static bool can_share(const plan_buffer *x, const plan_buffer *y) {
  return x->bytes == y->bytes && !x->fixed && !y->fixed && !x->placed && !y->placed &&
         x->n_own == 1 && y->n_own == 1;
}

/* x dies where y begins. */
static void join(plan_assigner *a, uint32_t x, uint32_t y) {
  plan_buffer *into = &a->buffers[x], *from = &a->buffers[y];
  CTX_CHECK(a->g->m->ctx, x != y && !into->merged_into && !from->merged_into);
  plan_interval *live = ARENA_ARRAY(a->g->arena, plan_interval, into->n_live + from->n_live);
  uint32_t n = 0, i = 0, j = 0;
  while (i < into->n_live || j < from->n_live) {
    plan_interval next =
        j >= from->n_live || (i < into->n_live && into->live[i].from <= from->live[j].from)
            ? into->live[i++]
            : from->live[j++];
    if (n && live[n - 1].to >= next.from) {
      if (live[n - 1].to < next.to) live[n - 1].to = next.to;
    } else live[n++] = next;
  }
  CTX_CHECK(a->g->m->ctx, is_ascending(live, n) && into->bytes == from->bytes);
  into->live = live;
  into->n_live = n;
  into->sketch |= from->sketch;
  from->merged_into = x + 1;
}

/* At how many points of the time line both are live: none, one (*out_at), or more, which is 2. */
int plan_common_times(const plan_buffer *x, const plan_buffer *y, int64_t *out_at) {
  int n = 0;
  if (!(x->sketch & y->sketch)) return 0;
  for (uint32_t i = 0, j = 0; i < x->n_live && j < y->n_live && n < 2;) {
    int64_t from = x->live[i].from > y->live[j].from ? x->live[i].from : y->live[j].from;
    int64_t to = x->live[i].to < y->live[j].to ? x->live[i].to : y->live[j].to;
    if (from <= to) n += from == to ? 1 : 2, *out_at = from;
    if (x->live[i].to < y->live[j].to) i++;
    else j++;
  }
  return n < 2 ? n : 2;
}

bool plan_overlap(const plan_buffer *x, const plan_buffer *y, int64_t except) {
  int64_t at;
  int n = plan_common_times(x, y, &at);
  return n == 2 || (n == 1 && at != except);
}

static void share_with_operand(plan_assigner *a, uint32_t node, uint32_t member) {
  const plan_node *n = plan_node_get(a->g, node);
  uint32_t own = plan_merged(a, a->buffer_of[a->base[node] + member]);
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint32_t v = plan_shares_buffer(a->g, node, member, i) ? plan_value_of(a, n->operands[i]) : 0;
    /* XLA's heap does not look through views */
    if (!v || a->values[v].node != n->operands[i]) continue;
    uint32_t other = plan_merged(a, a->buffer_of[v]);
    if (other == own || a->buffers[a->buffer_of[v]].n_own != 1 ||
        !can_share(&a->buffers[own], &a->buffers[other]) ||
        plan_overlap(&a->buffers[own], &a->buffers[other], a->time[node]))
      continue;
    join(a, other, own);
    return;
  }
}

void plan_share_buffers(plan_assigner *a, uint32_t comp) {
  const plan_comp *c = plan_comp_get(a->g, comp);
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(a->g, c->order[i]);
    for (uint32_t k = 0; k < n->n_comps; k++) plan_share_buffers(a, n->comps[k]);
    if (n->n_comps || n->kind == PLAN_PARAMETER || n->kind == PLAN_COPY) continue;
    for (uint32_t k = 0; k < (n->shape.is_tuple ? n->shape.n_members : 1) && plan_values_of(n) &&
                         n->kind != IR_OP_TUPLE;
         k++)
      share_with_operand(a, c->order[i], k);
  }
}

/* ---- sums over time ---- */
typedef struct event {
  int64_t at, bytes;
} event;

static int by_time(const void *x, const void *y) {
  const event *a = x, *b = y;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  return a->bytes < b->bytes ? -1 : a->bytes > b->bytes; /* given back before taken */
}

bool plan_is_temporary(const plan_buffer *b) {
  return !b->fixed && !b->placed && !b->merged_into && !b->is_table;
}

bool plan_counts(const plan_buffer *b) { return plan_is_temporary(b) && !b->is_near; }

/* The most bytes live at once among what is not placed yet, on the chip or not, and when.
 * Saturated sizes are clipped so that sums stay sums. */
int64_t plan_most_live(plan_assigner *a, bool near, int64_t *out_at) {
  uint32_t n = 0, k = 0;
  for (const plan_buffer *b = a->buffers; b < a->buffers + a->n_buffers; b++)
    n += plan_is_temporary(b) && b->is_near == near ? b->n_live * 2 : 0;
  event *events = ARENA_ARRAY(a->g->arena, event, n);
  for (const plan_buffer *b = a->buffers; b < a->buffers + a->n_buffers; b++) {
    int64_t bytes = b->bytes > INT64_MAX / 8 ? INT64_MAX / 8 : b->bytes;
    for (uint32_t j = 0; plan_is_temporary(b) && b->is_near == near && j < b->n_live; j++) {
      events[k++] = (event){b->live[j].from, bytes};
      events[k++] = (event){b->live[j].to + 1, -bytes};
    }
  }
  qsort(events, n, sizeof *events, by_time);
  int64_t live = 0, most = 0;
  *out_at = 0;
  for (uint32_t i = 0; i < n; i++) {
    live = events[i].bytes < 0 ? live + events[i].bytes : saturated_sum(live, events[i].bytes);
    CTX_CHECK(a->g->m->ctx, live >= 0);
    if (live > most) most = live, *out_at = events[i].at;
  }
  return most;
}
