/* Buffers: which values share one, when each is live, where XLA would put it.
 *
 * Values that must be one buffer (a loop's state before, in and after the loop; a target and its
 * update in place; a donated argument and its result) form a class. The schedule is one time
 * line: a called computation's nodes stand before the node that calls it. A class is live in a
 * few intervals of it.
 *
 *   1. results of the program have allocations of their own; smaller classes that are dead by then
 *      may live there before (largest class first);
 *   2. a result written over an operand that dies there becomes one class with it;
 *   3. the rest goes into one heap, the largest or the longest-lived first, each where it fits
 * best, and the better of the two orders counts. Of equally large ones that goes first whose first
 * value (before the loop, before what is written over it) lives longest.
 *
 * Source: XLA's buffer_assignment.cc, hlo_live_range.cc, heap_simulator.cc. */
#include <stdlib.h>

#include "plan/peak_graph.h"

#include "base/saturate.h"

enum {
  CPU_ALIGNMENT = 64,
  MOST_PLACED = 2000, /* the heap is quadratic in them; smaller ones are only summed */
  SMALL_SHARE = 64,   /* of a chip's memory: what is smaller */
  LOOPS_SHARE = 4,    /* of it: what is larger does not go there while a loop runs */
  MOST_TRIED_NEAR = 256
};

typedef struct interval {
  int64_t from, to; /* both inclusive */
} interval;

typedef struct value_data {
  uint32_t node, member, parent; /* parent: union-find */
  /* a loop's state element that no trip changes: no value of its own */
  bool passed_on;
  bool is_table; /* a tuple's pointers */
  int64_t bytes;
  interval live;
} value_data;

typedef struct buffer { /* a class of values */
  int64_t bytes, offset;
  uint32_t first, count; /* in values_by_class */
  interval *live;
  uint64_t sketch;              /* of live: a bit per 64th of the time line */
  uint32_t n_live, merged_into; /* 1 + the buffer that it was merged into; 0: none */
  uint32_t n_own;               /* values but for those passed on */
  int64_t own_events, events;   /* from taking to giving back: its first value, all of them */
  bool fixed, is_output, placed, is_table;
  bool is_near; /* on the chip */
} buffer;

typedef struct assigner {
  plan_graph *g;
  uint32_t *base; /* by node: its first value */
  int64_t *time;  /* by node */
  interval *span; /* by computation */
  value_data *values;
  uint32_t n_values;
  int64_t now;
  buffer *buffers;
  uint32_t n_buffers;
  uint32_t *buffer_of; /* by value */
  uint32_t *by_class;  /* values, class by class, in order of start */
} assigner;

static int64_t aligned(const assigner *a, int64_t bytes) {
  int64_t alignment = a->g->memory ? a->g->memory->align_bytes : CPU_ALIGNMENT;
  return saturated_sum(bytes, alignment - 1) / alignment * alignment;
}

/* ---- values ---- */
/* A tuple's members, then its table of pointers. */
static uint32_t values_of(const plan_node *n) {
  switch (n->kind) {
    case PLAN_BITCAST:
    case IR_OP_GET_TUPLE_ELEMENT: return 0;
    case IR_OP_TUPLE: return 1;
    default: return n->shape.is_tuple ? n->shape.n_members + 1 : 1;
  }
}

static uint32_t table_of(const assigner *a, uint32_t node) { /* 0: none */
  const plan_node *n = plan_node_get(a->g, node);
  if (!n->shape.is_tuple || n->kind == IR_OP_GET_TUPLE_ELEMENT) return 0;
  return a->base[node] + (n->kind == IR_OP_TUPLE ? 0 : n->shape.n_members);
}

static void number_node(assigner *a, uint32_t id) {
  const plan_node *n = plan_node_get(a->g, id);
  uint32_t count = values_of(n);
  for (uint32_t k = 0; k < count; k++) {
    bool is_table = n->shape.is_tuple && k + 1 == count;
    int64_t bytes = is_table || !n->shape.is_tuple ? n->shape.bytes : n->shape.members[k].bytes;
    a->values[a->base[id] + k] = (value_data){
        .node = id, .member = k, .parent = a->base[id] + k, .is_table = is_table, .bytes = bytes};
  }
}

static void number_values(assigner *a) {
  plan_graph *g = a->g;
  a->base = ARENA_ARRAY(g->arena, uint32_t, g->nodes.count);
  a->n_values = 1;
  for (uint32_t n = 1; n < g->nodes.count; n++) {
    a->base[n] = a->n_values;
    if (plan_node_get(g, n)->flags & PLAN_FLAG_LIVE) a->n_values += values_of(plan_node_get(g, n));
  }
  a->values = ARENA_ARRAY(g->arena, value_data, a->n_values);
  for (uint32_t n = 1; n < g->nodes.count; n++)
    if (plan_node_get(g, n)->flags & PLAN_FLAG_LIVE) number_node(a, n);
}

/* The value behind an array node; 0: none (an element of a nested tuple). */
static uint32_t value_of(const assigner *a, uint32_t node) {
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

static uint32_t member_of(const assigner *a, uint32_t node, uint32_t member) {
  const plan_node *n = plan_node_get(a->g, node);
  if (n->kind == IR_OP_TUPLE) return value_of(a, n->operands[member]);
  return n->shape.is_tuple ? a->base[node] + member : value_of(a, node);
}

static uint32_t find(assigner *a, uint32_t v) {
  while (a->values[v].parent != v) v = a->values[v].parent = a->values[a->values[v].parent].parent;
  return v;
}

static void unite(assigner *a, uint32_t x, uint32_t y) {
  if (x && y) a->values[find(a, y)].parent = find(a, x);
}

static void unite_loop(assigner *a, uint32_t node) {
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

static void unite_branches(assigner *a, uint32_t node) {
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
static void unite_call(assigner *a, uint32_t node) {
  const plan_comp *c = plan_comp_get(a->g, plan_node_get(a->g, node)->comps[0]);
  unite_branches(a, node);
  a->values[a->base[node]].passed_on = true;
  for (uint32_t i = 0; i < plan_node_get(a->g, c->parameter)->shape.n_members; i++)
    a->values[a->base[c->parameter] + i].passed_on = true;
}

static void unite_values(assigner *a) {
  plan_graph *g = a->g;
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    if (!(n->flags & PLAN_FLAG_LIVE)) continue;
    if (n->kind == IR_OP_WHILE) unite_loop(a, id);
    else if (n->kind == IR_OP_CASE) unite_branches(a, id);
    else if (n->kind == IR_OP_CALL && n->n_comps) unite_call(a, id);
    if (n->in_place) unite(a, a->base[id], value_of(a, n->operands[n->in_place - 1]));
  }
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    if (g->param_of_output[i] < 0) continue;
    const plan_comp *entry = plan_comp_get(g, g->entry);
    for (uint32_t k = 0; k < entry->nodes.count; k++) {
      const plan_node *p = plan_node_get(g, entry->nodes.at[k]);
      if (p->kind == PLAN_PARAMETER && p->index == (uint32_t)g->param_of_output[i])
        unite(a, value_of(a, g->outputs[i]), a->base[entry->nodes.at[k]]);
    }
  }
}

/* ---- the time line ---- */
static void lay_out(assigner *a, uint32_t comp) {
  const plan_comp *c = plan_comp_get(a->g, comp);
  a->span[comp].from = ++a->now;
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(a->g, c->order[i]);
    for (uint32_t k = 0; k < n->n_comps; k++) lay_out(a, n->comps[k]);
    a->time[c->order[i]] = n->kind == PLAN_PARAMETER ? a->span[comp].from : ++a->now;
  }
  a->span[comp].to = ++a->now;
}

static void use(assigner *a, uint32_t v, int64_t at) {
  if (v && a->values[v].live.to < at) a->values[v].live.to = at;
}

static void use_all(assigner *a, uint32_t node, int64_t at) {
  const plan_node *n = plan_node_get(a->g, node);
  use(a, table_of(a, node), at);
  if (n->kind == IR_OP_TUPLE)
    for (uint32_t i = 0; i < n->n_operands; i++) use_all(a, n->operands[i], at);
  else if (n->shape.is_tuple)
    for (uint32_t i = 0; i < n->shape.n_members && n->kind != IR_OP_GET_TUPLE_ELEMENT; i++)
      use(a, a->base[node] + i, at);
  else use(a, value_of(a, node), at);
}

static void find_live_ranges(assigner *a) {
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
static _Thread_local assigner *sorting; /* qsort has no argument for it; set and used in one call */

static int by_class_and_start(const void *x, const void *y) {
  uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
  const value_data *v = &sorting->values[a], *w = &sorting->values[b];
  if (v->parent != w->parent) return v->parent < w->parent ? -1 : 1;
  if (v->live.from != w->live.from) return v->live.from < w->live.from ? -1 : 1;
  return a < b ? -1 : a > b;
}

static void merge_intervals(assigner *a, buffer *b) {
  b->live = ARENA_ARRAY(a->g->arena, interval, b->count);
  for (uint32_t i = 0; i < b->count; i++) {
    const value_data *v = &a->values[a->by_class[b->first + i]];
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
}

static uint64_t sketch_of(const assigner *a, const interval *live, uint32_t count) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < count; i++) {
    int64_t from = live[i].from * 64 / (a->now + 1), to = live[i].to * 64 / (a->now + 1);
    CTX_CHECK(a->g->m->ctx, 0 <= from && from <= to && to < 64);
    bits |= (~(uint64_t)0 >> (63 - (to - from))) << from;
  }
  return bits;
}

static void make_buffers(assigner *a) {
  arena *s = a->g->arena;
  a->by_class = ARENA_ARRAY(s, uint32_t, a->n_values);
  a->buffer_of = ARENA_ARRAY(s, uint32_t, a->n_values);
  a->buffers = ARENA_ARRAY(s, buffer, a->n_values);
  for (uint32_t v = 1; v < a->n_values; v++)
    a->values[v].parent = find(a, v), a->by_class[v - 1] = v;
  sorting = a;
  qsort(a->by_class, a->n_values - 1, sizeof *a->by_class, by_class_and_start);
  for (uint32_t i = 0; i + 1 < a->n_values; i++) {
    bool new_class =
        i == 0 || a->values[a->by_class[i]].parent != a->values[a->by_class[i - 1]].parent;
    if (new_class) a->buffers[a->n_buffers++] = (buffer){.first = i};
    a->buffers[a->n_buffers - 1].count++;
    a->buffer_of[a->by_class[i]] = a->n_buffers - 1;
  }
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    buffer *b = &a->buffers[i];
    merge_intervals(a, b);
    b->sketch = sketch_of(a, b->live, b->n_live);
  }
  for (uint32_t i = 0; i < a->g->n_outputs; i++) {
    uint32_t v = value_of(a, a->g->outputs[i]);
    if (v) a->buffers[a->buffer_of[v]].is_output = true;
  }
}

static assigner *analyse(plan_graph *g) {
  assigner *a = ARENA_NEW(g->arena, assigner);
  *a = (assigner){.g = g,
                  .time = ARENA_ARRAY(g->arena, int64_t, g->nodes.count),
                  .span = ARENA_ARRAY(g->arena, interval, g->comps.count)};
  number_values(a);
  unite_values(a);
  lay_out(a, g->entry);
  find_live_ranges(a);
  make_buffers(a);
  return a;
}

/* ---- sharing ---- */
/* Near constant: what is asked for is remembered on the way. */
static uint32_t merged(assigner *a, uint32_t b) {
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
static bool can_share(const buffer *x, const buffer *y) {
  return x->bytes == y->bytes && !x->fixed && !y->fixed && !x->placed && !y->placed &&
         x->n_own == 1 && y->n_own == 1;
}

/* x dies where y begins. */
static void join(assigner *a, uint32_t x, uint32_t y) {
  buffer *into = &a->buffers[x], *from = &a->buffers[y];
  CTX_CHECK(a->g->m->ctx, x != y && !into->merged_into && !from->merged_into);
  interval *live = ARENA_ARRAY(a->g->arena, interval, into->n_live + from->n_live);
  uint32_t n = 0, i = 0, j = 0;
  while (i < into->n_live || j < from->n_live) {
    interval next =
        j >= from->n_live || (i < into->n_live && into->live[i].from <= from->live[j].from)
            ? into->live[i++]
            : from->live[j++];
    if (n && live[n - 1].to >= next.from) {
      if (live[n - 1].to < next.to) live[n - 1].to = next.to;
    } else live[n++] = next;
  }
  into->live = live;
  into->n_live = n;
  into->sketch |= from->sketch;
  from->merged_into = x + 1;
}

/* At how many points of the time line both are live: none, one (*out_at), or more, which is 2. */
static int common_times(const buffer *x, const buffer *y, int64_t *out_at) {
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

static bool overlap(const buffer *x, const buffer *y, int64_t except) {
  int64_t at;
  int n = common_times(x, y, &at);
  return n == 2 || (n == 1 && at != except);
}

static void share_with_operand(assigner *a, uint32_t node, uint32_t member) {
  const plan_node *n = plan_node_get(a->g, node);
  uint32_t own = merged(a, a->buffer_of[a->base[node] + member]);
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint32_t v = plan_shares_buffer(a->g, node, member, i) ? value_of(a, n->operands[i]) : 0;
    /* XLA's heap does not look through views */
    if (!v || a->values[v].node != n->operands[i]) continue;
    uint32_t other = merged(a, a->buffer_of[v]);
    if (other == own || a->buffers[a->buffer_of[v]].n_own != 1 ||
        !can_share(&a->buffers[own], &a->buffers[other]) ||
        overlap(&a->buffers[own], &a->buffers[other], a->time[node]))
      continue;
    join(a, other, own);
    return;
  }
}

static void share_comp(assigner *a, uint32_t comp) {
  const plan_comp *c = plan_comp_get(a->g, comp);
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(a->g, c->order[i]);
    for (uint32_t k = 0; k < n->n_comps; k++) share_comp(a, n->comps[k]);
    if (n->n_comps || n->kind == PLAN_PARAMETER || n->kind == PLAN_COPY) continue;
    for (uint32_t k = 0;
         k < (n->shape.is_tuple ? n->shape.n_members : 1) && values_of(n) && n->kind != IR_OP_TUPLE;
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
  return a->bytes > b->bytes ? -1 : a->bytes < b->bytes; /* taken before given back */
}

static bool is_temporary(const buffer *b) {
  return !b->fixed && !b->placed && !b->merged_into && !b->is_table;
}

static bool counts(const buffer *b) { return is_temporary(b) && !b->is_near; }

/* The most bytes live at once among what is not placed yet, on the chip or not, and when.
 * Saturated sizes are clipped so that sums stay sums. */
static int64_t most_live_of(assigner *a, bool near, int64_t *out_at) {
  uint32_t n = 0, k = 0;
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const buffer *b = &a->buffers[i];
    n += is_temporary(b) && b->is_near == near ? b->n_live * 2 : 0;
  }
  event *events = ARENA_ARRAY(a->g->arena, event, n);
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const buffer *b = &a->buffers[i];
    int64_t bytes = b->bytes > INT64_MAX / 8 ? INT64_MAX / 8 : b->bytes;
    for (uint32_t j = 0; is_temporary(b) && b->is_near == near && j < b->n_live; j++) {
      events[k++] = (event){b->live[j].from, bytes};
      events[k++] = (event){b->live[j].to + 1, -bytes};
    }
  }
  qsort(events, n, sizeof *events, by_time);
  int64_t live = 0, most = 0;
  *out_at = 0;
  for (uint32_t i = 0; i < n;) {
    int64_t at = events[i].at;
    for (; i < n && events[i].at == at; i++)
      if (events[i].bytes < 0) live -= -events[i].bytes;
    CTX_CHECK(a->g->m->ctx, live >= 0);
    for (uint32_t j = i; j-- > 0 && events[j].at == at;)
      if (events[j].bytes > 0) live = saturated_sum(live, events[j].bytes);
    if (live > most) most = live, *out_at = at;
  }
  return most;
}

static int64_t most_live(assigner *a, int64_t *out_at) { return most_live_of(a, false, out_at); }

/* ---- on the chip ---- */
static int largest_first(const void *x, const void *y) {
  uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
  int64_t a = sorting->buffers[i].bytes, b = sorting->buffers[k].bytes;
  if (a != b) return a > b ? -1 : 1;
  return i < k ? -1 : i > k;
}

/* Made and read in the same trip of a loop: none of its state. */
static bool is_of_a_trip(const assigner *a, const buffer *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    const plan_node *n = plan_node_get(a->g, a->values[a->by_class[b->first + i]].node);
    uint32_t caller = plan_comp_get(a->g, n->comp)->caller;
    bool is_inside = caller && plan_node_get(a->g, caller)->kind == IR_OP_WHILE;
    if (!is_inside || n->kind == PLAN_PARAMETER || n->kind == IR_OP_WHILE) return false;
  }
  return b->count > 0;
}

/* Whether no loop runs while it lives. */
static bool is_beside_loops(const assigner *a, const buffer *b) {
  for (uint32_t c = 1; c < a->g->comps.count; c++) {
    uint32_t caller = plan_comp_get(a->g, c)->caller;
    bool is_loops = caller && plan_node_get(a->g, caller)->kind == IR_OP_WHILE;
    for (uint32_t i = 0; i < b->n_live && is_loops; i++)
      if (b->live[i].from <= a->span[c].to && b->live[i].to >= a->span[c].from) return false;
  }
  return true;
}

static bool is_far(const assigner *a, const buffer *b) {
  for (uint32_t i = 0; i < b->count; i++)
    if (plan_node_get(a->g, a->values[a->by_class[b->first + i]].node)->is_far) return true;
  return false;
}

static bool is_unread(const assigner *a, const buffer *b) {
  const value_data *v = &a->values[a->by_class[b->first]];
  return b->count == 1 && !v->is_table && plan_is_left_unread(a->g, v->node, v->member);
}

/* Loops have copies there of what they read: while one runs, what a trip makes for itself goes
 * there, if it takes a quarter at most. */
static bool may_be_near(const assigner *a, const buffer *b) {
  int64_t near = a->g->memory->near_bytes;
  if (!is_temporary(b) || b->bytes > near || b->bytes <= near / SMALL_SHARE) return false;
  if (is_far(a, b) || is_unread(a, b)) return false;
  return is_beside_loops(a, b) || (b->bytes <= near / LOOPS_SHARE && is_of_a_trip(a, b));
}

/* Whether all temporaries do, of which `most` bytes live at once. */
static bool fits_near(const assigner *a, int64_t most) {
  bool is = a->g->memory && most <= a->g->memory->near_bytes;
  for (uint32_t i = 0; i < a->n_buffers && is; i++)
    is = !is_temporary(&a->buffers[i]) || !is_far(a, &a->buffers[i]);
  return is;
}

/* Of more than fits on the chip, what fits: the largest buffers first, each for all of its life.
 * Small ones make no difference. The most bytes of the rest that live at once, and when. */
static int64_t put_near(assigner *a, int64_t most, int64_t *in_out_at) {
  int64_t near = a->g->memory ? a->g->memory->near_bytes : 0, at;
  if (near == 0 || fits_near(a, most)) return most;
  uint32_t *list = ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers), n = 0;
  for (uint32_t i = 0; i < a->n_buffers; i++)
    if (may_be_near(a, &a->buffers[i])) list[n++] = i;
  sorting = a;
  qsort(list, n, sizeof *list, largest_first);
  for (uint32_t i = 0; i < n && i < MOST_TRIED_NEAR; i++) {
    buffer *b = &a->buffers[list[i]];
    b->is_near = true;
    b->is_near = most_live_of(a, true, &at) <= near;
  }
  return most_live(a, in_out_at);
}

/* ---- step 1: inside the results ---- */
typedef struct allocation {
  int64_t bytes;
  uint64_t sketch; /* of all that is in it */
  VEC(uint32_t) buffers;
} allocation;

static int by_size(const void *x, const void *y) {
  const buffer *a = &sorting->buffers[*(const uint32_t *)x],
               *b = &sorting->buffers[*(const uint32_t *)y];
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  if (a->is_output != b->is_output) return a->is_output ? -1 : 1;
  if (a->live[0].from != b->live[0].from) return a->live[0].from < b->live[0].from ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* The time at which `second` is made in place of `first`; -1: never. */
static int64_t handover(assigner *a, const buffer *first, const buffer *second) {
  const value_data *v = &a->values[a->by_class[second->first]];
  const plan_node *n = plan_node_get(a->g, v->node);
  if (n->n_comps || n->kind == PLAN_PARAMETER || v->is_table) return -1;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint32_t u = plan_shares_buffer(a->g, v->node, v->member, i) ? value_of(a, n->operands[i]) : 0;
    if (u && &a->buffers[a->buffer_of[u]] == first) return a->time[v->node];
  }
  return -1;
}

static bool can_be_beside(assigner *a, const buffer *other, const buffer *b) {
  int64_t common;
  int n = common_times(other, b, &common);
  if (n != 1) return n == 0;
  int64_t at = handover(a, other, b);
  if (at < 0) at = handover(a, b, other);
  return at == common;
}

/* Who is in the way goes to the front: it will be in the way of others. */
static bool fits(assigner *a, allocation *where, const buffer *b) {
  if (b->bytes > where->bytes) return false;
  if (!(where->sketch & b->sketch)) return true;
  uint32_t *in = where->buffers.at;
  for (uint32_t i = 0; i < where->buffers.count; i++) {
    if (can_be_beside(a, &a->buffers[in[i]], b)) continue;
    uint32_t first = in[0];
    in[0] = in[i];
    in[i] = first;
    return false;
  }
  return true;
}

/* Which allocations are taken throughout each cell of the time line. Thousands of results are not
 * looked at one by one for each buffer. */
enum { MOST_CELLS = 128, LEAST_CELL = 2 };

typedef struct occupancy {
  int64_t cell;      /* points in time, LEAST_CELL at least */
  uint32_t n_words;  /* of a bit for each allocation */
  uint64_t *taken;   /* by cell */
  uint64_t *refused; /* of the buffer at hand */
} occupancy;

static occupancy occupancy_of(const assigner *a, uint32_t n_allocations) {
  arena *s = a->g->arena;
  occupancy o = {.cell = a->now / MOST_CELLS + LEAST_CELL, .n_words = n_allocations / 64 + 1};
  o.taken = ARENA_ARRAY(s, uint64_t, (size_t)(a->now / o.cell + 1) * o.n_words);
  o.refused = ARENA_ARRAY(s, uint64_t, o.n_words);
  return o;
}

static void note_taken(occupancy *o, const buffer *b, uint32_t k) {
  for (uint32_t i = 0; i < b->n_live; i++)
    for (int64_t c = (b->live[i].from + o->cell - 1) / o->cell;
         (c + 1) * o->cell - 1 <= b->live[i].to; c++)
      o->taken[c * o->n_words + k / 64] |= UINT64_C(1) << k % 64;
}

/* Those that are taken at two points in time, or more, at which the buffer is live. */
static void find_refused(occupancy *o, const buffer *b) {
  memset(o->refused, 0, o->n_words * sizeof *o->refused);
  for (uint32_t i = 0; i < b->n_live; i++)
    for (int64_t c = b->live[i].from / o->cell; c * o->cell < b->live[i].to; c++) {
      if ((c + 1) * o->cell - 1 == b->live[i].from) continue; /* one point in time */
      for (uint32_t w = 0; w < o->n_words; w++) o->refused[w] |= o->taken[c * o->n_words + w];
    }
}

static void put_into(assigner *a, allocation *allocations, uint32_t k, uint32_t index,
                     occupancy *o) {
  VEC_PUSH(a->g->arena, &allocations[k].buffers, index);
  allocations[k].sketch |= a->buffers[index].sketch;
  a->buffers[index].placed = true;
  note_taken(o, &a->buffers[index], k);
}

/* The last result that fits. */
static void put_into_some(assigner *a, allocation *allocations, uint32_t n, uint32_t index,
                          occupancy *o) {
  find_refused(o, &a->buffers[index]);
  for (uint32_t k = n; k-- > 0;) {
    uint64_t left = ~o->refused[k / 64] & (UINT64_MAX >> (63 - k % 64));
    k = k / 64 * 64;
    if (!left) continue;
    k += 63 - (uint32_t)__builtin_clzll(left);
    if (fits(a, &allocations[k], &a->buffers[index])) {
      put_into(a, allocations, k, index, o);
      return;
    }
  }
}

static void place_in_outputs(assigner *a) {
  arena *s = a->g->arena;
  uint32_t *order = ARENA_ARRAY(s, uint32_t, a->n_buffers), n = 0, n_allocations = 0;
  for (uint32_t i = 0; i < a->n_buffers; i++)
    if ((!a->buffers[i].fixed || a->buffers[i].is_output) && !a->buffers[i].is_table)
      order[n++] = i;
  allocation *allocations = ARENA_ARRAY(s, allocation, a->g->n_outputs + 1);
  occupancy o = occupancy_of(a, a->g->n_outputs + 1);
  sorting = a;
  qsort(order, n, sizeof *order, by_size);
  for (uint32_t i = 0; i < n; i++) {
    const buffer *b = &a->buffers[order[i]];
    if (b->is_output) {
      allocations[n_allocations].bytes = b->bytes;
      put_into(a, allocations, n_allocations++, order[i], &o);
    } else {
      put_into_some(a, allocations, n_allocations, order[i], &o);
    }
  }
}

/* ---- step 3: the heap ---- */
/* XLA's heap measures time in what happens to it: at each point of the time line values are taken,
 * then others given back, the oldest first. Values of one buffer count each. */
static bool is_in_heap(assigner *a, uint32_t v) {
  const buffer *b = &a->buffers[merged(a, a->buffer_of[v])];
  return !a->values[v].passed_on && !b->fixed && !b->placed && b->bytes;
}

/* When each value is given back: a class holds one at a time. (HloLiveRange's
 * NormalizeAliasedBuffers) */
static int64_t *ends_of(assigner *a) {
  int64_t *end = ARENA_ARRAY(a->g->arena, int64_t, a->n_values);
  uint32_t last = 0;
  for (uint32_t i = 0; i + 1 < a->n_values; i++) {
    uint32_t v = a->by_class[i];
    if (a->values[v].passed_on) continue;
    end[v] = a->values[v].live.to;
    bool follows = last && a->buffer_of[last] == a->buffer_of[v];
    int64_t from = a->values[v].live.from;
    if (follows && a->values[last].live.from == from) end[last] = from;
    else if (follows && end[last] >= from) {
      if (end[last] > end[v]) end[v] = end[last];
      end[last] = from - 1;
      CTX_CHECK(a->g->m->ctx, end[last] >= a->values[last].live.from);
    }
    last = v;
  }
  return end;
}

/* The heap's values by the time they are taken. */
static uint32_t *in_order_of_start(assigner *a, uint32_t *out_n) {
  uint32_t *at = ARENA_ARRAY(a->g->arena, uint32_t, a->now + 2), n = 0;
  for (uint32_t v = 1; v < a->n_values; v++)
    if (is_in_heap(a, v)) at[a->values[v].live.from + 1]++, n++;
  for (int64_t t = 0; t <= a->now; t++) at[t + 1] += at[t];
  uint32_t *order = ARENA_ARRAY(a->g->arena, uint32_t, n + 1);
  for (uint32_t v = 1; v < a->n_values; v++)
    if (is_in_heap(a, v)) order[at[a->values[v].live.from]++] = v;
  *out_n = n;
  return order;
}

/* How much happens from taking to giving back: of each buffer's first value, of all. */
static void count_events(assigner *a) {
  arena *s = a->g->arena;
  int64_t *end = ends_of(a), *taken = ARENA_ARRAY(s, int64_t, a->now + 2),
          *given = ARENA_ARRAY(s, int64_t, a->now + 2), before = 0;
  uint32_t n, *order = in_order_of_start(a, &n);
  for (uint32_t i = 0; i < n; i++) taken[a->values[order[i]].live.from]++, given[end[order[i]]]++;
  for (uint32_t id = 1; id < a->g->nodes.count; id++) /* at the end of its time */
    if (plan_node_get(a->g, id)->flags & PLAN_FLAG_LIVE)
      given[a->time[id]] += 2 * plan_node_get(a->g, id)->n_hidden;
  for (int64_t t = 0; t <= a->now + 1; t++) {
    int64_t here[] = {taken[t], given[t]};
    taken[t] = before;
    given[t] = before + here[0];
    before += here[0] + here[1];
  }
  int64_t *begin = ARENA_ARRAY(s, int64_t, a->n_buffers);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t of = merged(a, a->buffer_of[order[i]]);
    buffer *b = &a->buffers[of];
    int64_t from = taken[a->values[order[i]].live.from]++, to = given[end[order[i]]]++;
    CTX_CHECK(a->g->m->ctx, from < to); /* taken before it is given back */
    if (!b->own_events) begin[of] = from, b->own_events = to - from;
    if (to - begin[of] > b->events) b->events = to - begin[of];
  }
}

static int by_space(const void *x, const void *y) {
  const buffer *a = &sorting->buffers[*(const uint32_t *)x],
               *b = &sorting->buffers[*(const uint32_t *)y];
  if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
  if (a->own_events != b->own_events) return a->own_events > b->own_events ? -1 : 1;
  return a->live[0].from != b->live[0].from ? (a->live[0].from < b->live[0].from ? -1 : 1)
                                            : (a < b ? -1 : 1);
}

static int by_duration(const void *x, const void *y) {
  const buffer *a = &sorting->buffers[*(const uint32_t *)x],
               *b = &sorting->buffers[*(const uint32_t *)y];
  if (a->events != b->events) return a->events > b->events ? -1 : 1;
  return by_space(x, y);
}

/* The smallest gap that holds the buffer among those live with it. placed: buffers by offset. */
static int64_t best_fit(assigner *a, const uint32_t *placed, uint32_t n, const buffer *b) {
  int64_t end = 0, best = -1, best_size = INT64_MAX;
  for (uint32_t i = 0; i < n; i++) {
    const buffer *other = &a->buffers[placed[i]];
    if (other->live[0].from > b->live[b->n_live - 1].to ||
        other->live[other->n_live - 1].to < b->live[0].from || !overlap(other, b, -1))
      continue;
    int64_t gap = other->offset - end;
    if (gap >= b->bytes && gap < best_size) best = end, best_size = gap;
    int64_t to = aligned(a, saturated_sum(other->offset, other->bytes));
    if (to > end) end = to;
  }
  return best >= 0 ? best : end;
}

static void insert_by_offset(const assigner *a, uint32_t *placed, uint32_t n, uint32_t index) {
  uint32_t at = 0, end = n;
  while (at < end) {
    uint32_t middle = (at + end) / 2;
    if (a->buffers[placed[middle]].offset <= a->buffers[index].offset) at = middle + 1;
    else end = middle;
  }
  memmove(placed + at + 1, placed + at, (n - at) * sizeof *placed);
  placed[at] = index;
}

static int64_t heap_size(assigner *a, uint32_t *order, uint32_t n,
                         int (*compare)(const void *, const void *)) {
  uint32_t *placed = ARENA_ARRAY(a->g->arena, uint32_t, n + 1);
  int64_t size = 0;
  sorting = a;
  qsort(order, n, sizeof *order, compare);
  for (uint32_t i = 0; i < n; i++) {
    buffer *b = &a->buffers[order[i]];
    b->offset = best_fit(a, placed, i, b);
    CTX_CHECK(a->g->m->ctx, b->offset >= 0 && b->offset == aligned(a, b->offset));
    insert_by_offset(a, placed, i, order[i]);
    if (saturated_sum(b->offset, b->bytes) > size) size = saturated_sum(b->offset, b->bytes);
  }
  return size;
}

static int64_t place_in_heap(assigner *a, int64_t live) {
  uint32_t *order = ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers), n = 0;
  count_events(a);
  for (uint32_t i = 0; i < a->n_buffers; i++)
    if (counts(&a->buffers[i]) && a->buffers[i].bytes) order[n++] = i;
  sorting = a;
  qsort(order, n, sizeof *order, by_space);
  if (n > MOST_PLACED) n = MOST_PLACED;
  int64_t size = heap_size(a, order, n, by_space);
  if (size > live) {
    int64_t other = heap_size(a, order, n, by_duration);
    if (other < size) size = other;
  }
  return size > live ? size : live;
}

/* ---- the report ---- */
static bool is_live_at(const buffer *b, int64_t at) {
  for (uint32_t i = 0; i < b->n_live; i++)
    if (b->live[i].from <= at && at <= b->live[i].to) return true;
  return false;
}

/* As the program names it; IR_NONE: it does not. */
static ir_value named_value(const assigner *a, const value_data *v) {
  const plan_node *n = plan_node_get(a->g, v->node);
  bool is_member = n->shape.is_tuple && n->op && n->kind == PLAN_OPAQUE &&
                   v->member < ir_op_get(a->g->m, n->op)->n_results;
  return v->is_table ? IR_NONE : is_member ? ir_result(a->g->m, n->op, v->member) : n->value;
}

/* The buffers that were merged into each, itself among them, in order; numbers from 1, 0: the end.
 */
typedef struct merges {
  uint32_t *first, *next;
} merges;

static merges merges_of(assigner *a) {
  merges of = {ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers),
               ARENA_ARRAY(a->g->arena, uint32_t, a->n_buffers)};
  for (uint32_t k = a->n_buffers; k-- > 0;) {
    uint32_t into = merged(a, k);
    of.next[k] = of.first[into];
    of.first[into] = k + 1;
  }
  return of;
}

/* The value in the buffer at that time; one that was there before if what is there now has no
 * name (what a loop captured is part of its state). */
static ir_value name_of(const assigner *a, const merges *of, uint32_t index, int64_t at) {
  ir_value best = IR_NONE;
  int64_t best_from = -1;
  bool best_lives = false;
  for (uint32_t next = of->first[index]; next; next = of->next[next - 1]) {
    uint32_t k = next - 1;
    for (uint32_t i = 0; i < a->buffers[k].count; i++) {
      const value_data *v = &a->values[a->by_class[a->buffers[k].first + i]];
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
static int64_t least_holder(const assigner *a, int64_t at, int64_t temp_bytes) {
  int64_t largest = 0;
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const buffer *b = &a->buffers[i];
    if (counts(b) && b->bytes > largest && is_live_at(b, at)) largest = b->bytes;
  }
  return largest / 8 < temp_bytes / 1000 ? largest / 8 : temp_bytes / 1000;
}

static void report(assigner *a, int64_t at, plan_peak *out) {
  plan_holder *holders = ARENA_ARRAY(a->g->arena, plan_holder, a->n_buffers);
  uint32_t n = 0;
  int64_t floor = least_holder(a, at, out->temp_bytes);
  merges of = merges_of(a);
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const buffer *b = &a->buffers[i];
    if (!counts(b) || b->bytes <= floor || !is_live_at(b, at)) continue;
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

/* On a GPU: a node of which the program has all results, in their order. 0: there is none. */
static uint32_t maker_of_results(const plan_graph *g) {
  const plan_node *root = plan_node_get(g, plan_comp_get(g, g->entry)->root);
  uint32_t made = 0;
  if (!g->memory || !g->memory->joins_results || root->kind != IR_OP_TUPLE) return 0;
  for (uint32_t i = 0; i < root->n_operands; i++) {
    const plan_node *x = plan_node_get(g, root->operands[i]);
    bool is = x->kind == IR_OP_GET_TUPLE_ELEMENT && x->index == i && (!i || x->operands[0] == made);
    if (!is) return 0;
    made = x->operands[0];
  }
  return made && plan_node_get(g, made)->shape.n_members == root->n_operands ? made : 0;
}

typedef struct tables { /* of tuples that are no results */
  int64_t aligned_bytes, least, most;
} tables;

static void add_table(const assigner *a, tables *t, int64_t bytes) {
  if (bytes == 0) return;
  if (t->most == 0 || bytes < t->least) t->least = bytes;
  if (bytes > t->most) t->most = bytes;
  t->aligned_bytes = saturated_sum(t->aligned_bytes, aligned(a, bytes));
}

static int64_t behind(const assigner *a, int64_t bytes) { return aligned(a, bytes) - bytes; }

/* Ops with a computation of their own for two elements, of which XLA has allocations, too. */
static bool has_reducers(const ir_module *m) {
  for (ir_op op = 1; op < m->ops.count; op++) switch (m->ops.at[op].kind) {
      case IR_OP_REDUCE:
      case IR_OP_REDUCE_WINDOW:
      case IR_OP_SCATTER:
      case IR_OP_SELECT_AND_SCATTER:
      case IR_OP_SORT:
      case IR_OP_CHLO_TOP_K: return true;
      default: break;
    }
  return false;
}

/* XLA:GPU has allocations one after the other, all but the last aligned: the tables, the largest
 * first, then the heap, or the other way round if other allocations, which it sorts out, come
 * behind. (CombineTempAllocations) */
static int64_t beside_tables(const assigner *a, int64_t heap, const tables *t) {
  int64_t all = saturated_sum(aligned(a, heap), t->aligned_bytes);
  if (t->most == 0) return heap;
  if (has_reducers(a->g->m)) return all - behind(a, t->most);
  return all - (heap ? behind(a, heap) : behind(a, t->least));
}

/* Tables of tuples lie behind the heap, each on its own; that of the results is a result. */
static int64_t add_tables(assigner *a, int64_t heap) {
  uint32_t maker = maker_of_results(a->g), root = plan_comp_get(a->g, a->g->entry)->root,
           own = table_of(a, root), results = maker ? table_of(a, maker) : own;
  tables t = {0};
  int64_t at = heap;
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const buffer *b = &a->buffers[i];
    bool is_result = (own && a->buffer_of[own] == i) || (results && a->buffer_of[results] == i);
    if (!b->is_table || b->bytes == 0 || is_result) continue;
    at = saturated_sum(aligned(a, at), b->bytes);
    add_table(a, &t, b->bytes);
  }
  for (uint32_t i = 0; i < a->g->tables.count; i++) add_table(a, &t, a->g->tables.at[i]);
  bool is_gpu = a->g->memory && a->g->memory->joins_results;
  return is_gpu ? beside_tables(a, heap, &t) : at;
}

/* ---- on a device ---- */
/* Whether a result of the program has room for it: nothing else has to be there but what nobody
 * reads. */
static bool fits_in_a_result(const assigner *a, const buffer *b) {
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    const buffer *to = &a->buffers[i];
    if (to->is_output && to->bytes >= b->bytes && !overlap(to, b, -1)) return true;
  }
  return false;
}

/* Results that nobody reads and that are in no result of the program. XLA:TPU does not put them on
 * the chip; what counts among the temporaries, too, is left out. */
static int64_t unread_bytes(const assigner *a, bool is_near) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i < a->n_buffers && a->g->memory->spacing_bytes; i++) {
    const buffer *b = &a->buffers[i];
    bool is_placed = is_near ? fits_in_a_result(a, b) : b->placed;
    if (b->fixed || b->merged_into || !is_unread(a, b) || is_placed) continue;
    int64_t apart = plan_apart_bytes(a->g->memory, b->bytes);
    bytes = saturated_sum(bytes, is_near ? apart : apart - b->bytes);
  }
  return bytes;
}

/* What of the temporaries is in memory: nothing where all fit on the chip, but small arrays. */
static int64_t in_memory(const assigner *a, bool is_near, int64_t temp_bytes) {
  const device_memory *m = a->g->memory;
  if (!m) return temp_bytes;
  is_near = is_near && temp_bytes <= m->near_bytes;
  int64_t small = m->spacing_bytes ? plan_small_bytes(a->g, is_near, unread_bytes(a, is_near)) : 0;
  return saturated_sum(is_near ? 0 : temp_bytes, small);
}

void plan_assign(plan_graph *g, int64_t enough_bytes, plan_peak *out) {
  assigner *a = analyse(g);
  int64_t at;
  place_in_outputs(a);
  share_comp(a, g->entry);
  int64_t most = most_live(a, &at);
  bool is_near = fits_near(a, most);
  out->temp_bytes = put_near(a, most, &at);
  if (out->temp_bytes <= enough_bytes)
    out->temp_bytes = add_tables(a, place_in_heap(a, out->temp_bytes));
  out->temp_bytes = in_memory(a, is_near, out->temp_bytes);
  report(a, at, out);
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
static void list_steps(assigner *a, uint32_t comp, int32_t depth, uint32_t *step_at, steps *list) {
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

static uint32_t *number_steps(assigner *a, plan_timeline *out) {
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
static naming *names_of_buffers(assigner *a, uint32_t *out_n) {
  naming *names = ARENA_ARRAY(a->g->arena, naming, a->n_values);
  uint32_t n = 0;
  for (uint32_t v = 1; v < a->n_values; v++) {
    ir_value value = a->values[v].passed_on ? IR_NONE : named_value(a, &a->values[v]);
    if (value) names[n++] = (naming){merged(a, a->buffer_of[v]), a->values[v].live.from, value};
  }
  qsort(names, n, sizeof *names, by_buffer_and_start);
  *out_n = n;
  return names;
}

/* Of one buffer, cut where it begins to hold another value. What is there before the first that has
 * a name is called after that. */
static void add_spans(assigner *a, uint32_t index, const naming *names, uint32_t n,
                      const uint32_t *step_at, spans *list) {
  const buffer *b = &a->buffers[index];
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

static void add_held(assigner *a, spans *list, uint32_t last) {
  const plan_graph *g = a->g;
  const plan_comp *entry = plan_comp_get(g, g->entry);
  for (uint32_t i = 0; i < entry->nodes.count; i++) {
    const plan_node *n = plan_node_get(g, entry->nodes.at[i]);
    plan_span s = {PLAN_ARGUMENT, n->value, n->shape.bytes, 0, last};
    if (n->kind == PLAN_PARAMETER) VEC_PUSH(g->arena, list, s);
  }
  for (uint32_t i = 0; i < g->n_outputs; i++) {
    const plan_node *n = plan_node_get(g, g->outputs[i]);
    plan_span s = {PLAN_RESULT, n->value, n->shape.bytes, 0, last};
    if (g->param_of_output[i] < 0) VEC_PUSH(g->arena, list, s);
  }
}

void plan_assign_spans(plan_graph *g, plan_timeline *out) {
  assigner *a = analyse(g);
  int64_t at;
  place_in_outputs(a);
  share_comp(a, g->entry);
  int64_t most = most_live(a, &at);
  bool is_near = fits_near(a, most);
  out->peak.temp_bytes = put_near(a, most, &at);
  uint32_t *step_at = number_steps(a, out), n_names, from = 0;
  naming *names = names_of_buffers(a, &n_names);
  spans list = {0};
  add_held(a, &list, out->n_steps - 1);
  for (uint32_t i = 0; i < a->n_buffers; i++) {
    while (from < n_names && names[from].buffer < i) from++;
    uint32_t to = from;
    while (to < n_names && names[to].buffer == i) to++;
    if (counts(&a->buffers[i]) && a->buffers[i].bytes)
      add_spans(a, i, names + from, to - from, step_at, &list);
  }
  out->spans = list.at;
  out->n_spans = list.count;
  out->peak.temp_bytes =
      in_memory(a, is_near, add_tables(a, place_in_heap(a, out->peak.temp_bytes)));
  report(a, at, &out->peak);
}
