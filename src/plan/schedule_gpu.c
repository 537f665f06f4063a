/* The order in which XLA:GPU runs the nodes of each computation: of three the one in which the
 * least is live at once; of equal ones the first.
 *
 * By list: of what is ready goes first what frees most, or takes least; then depth first, and
 * operands first. What is live is counted for each computation alone, with the most of one that it
 * calls; what a loop leaves counts beside what it began with, so that around large states all
 * orders are alike and the list's is taken. Source: XLA's hlo_memory_scheduler.cc (ListScheduler,
 * DefaultMemoryScheduler), heap_simulator.cc, gpu_hlo_schedule.cc. */
#include "base/saturate.h"
#include "plan/peak_graph.h"

typedef VEC(uint32_t) ids;

/* Whoever takes an element out of a tuple reads all of it, in XLA's count; of large ones its own.
 */
enum { MOST_MEMBERS = 32 };

typedef struct ready { /* a node that may go next */
  int64_t freed;       /* bytes, less those that it takes */
  uint32_t users, number, node;
} ready;

typedef struct lister {
  plan_graph *g;
  uint32_t *base;   /* by node: its first value; the others, and a tuple's table, follow */
  int64_t *bytes;   /* by value; 0: of arguments and constants, too */
  ids *reads;       /* by node: values, each once */
  uint32_t *left;   /* by value: how many nodes read it that are not in the list */
  uint32_t *marked; /* by value: the last that read it */
  uint32_t *waits;  /* by node: operands that are not in the list */
  uint32_t *latest; /* by node: the number of its entry; 0: not ready, or in the list */
  int64_t *freed;   /* by node: as its latest entry says */
  uint32_t *last;   /* by value: where in the order it is read last */
  int64_t *most;    /* by computation: live at once, but for what it is given */
  int64_t *taken;   /* by value: bytes of its own, or of what it is written over */
  uint32_t n_values, number, n_readers; /* readers: nodes, and those who ask for results */
  VEC(ready) heap;                      /* with entries that are not the latest */
} lister;

/* ---- values ---- */
static bool is_view(const plan_node *n) {
  return n->kind == PLAN_BITCAST || n->kind == IR_OP_GET_TUPLE_ELEMENT || n->kind == IR_OP_TUPLE;
}

static int64_t bytes_of(const plan_node *n, uint32_t k) {
  if (n->kind == PLAN_PARAMETER || n->kind == IR_OP_CONSTANT) return 0;
  bool is_member = n->shape.is_tuple && n->kind != IR_OP_TUPLE && k < n->shape.n_members;
  int64_t bytes = is_member ? n->shape.members[k].bytes : n->shape.bytes;
  return bytes < INT64_MAX / 8 ? bytes : INT64_MAX / 8;
}

static void number_values(lister *l) {
  plan_graph *g = l->g;
  l->base = plan_number_values(g, &l->n_values);
  l->bytes = ARENA_ARRAY(g->arena, int64_t, l->n_values);
  for (uint32_t id = 1; id < g->nodes.count; id++) {
    const plan_node *n = plan_node_get(g, id);
    for (uint32_t k = 0; (n->flags & PLAN_FLAG_LIVE) && k < plan_values_of(n); k++)
      l->bytes[l->base[id] + k] = bytes_of(n, k);
  }
}

static uint32_t value_of(const lister *l, uint32_t id);

/* What stands at a place of a tuple; what no trip of a loop changes is what it begins with. 0: a
 * tuple. */
static uint32_t member_of(const lister *l, uint32_t tuple, uint32_t index) {
  const plan_node *n = plan_node_get(l->g, tuple);
  if (n->kind == IR_OP_TUPLE) return value_of(l, n->operands[index]);
  if (n->kind == IR_OP_WHILE && !plan_is_carried(l->g, n->comps[1], index))
    return member_of(l, n->operands[0], index);
  return n->kind != IR_OP_GET_TUPLE_ELEMENT && index < n->shape.n_members ? l->base[tuple] + index
                                                                          : 0;
}

/* Of an array. */
static uint32_t value_of(const lister *l, uint32_t id) {
  const plan_node *n = plan_node_get(l->g, id);
  while (n->kind == PLAN_BITCAST) {
    id = n->operands[0];
    n = plan_node_get(l->g, id);
  }
  if (n->kind == IR_OP_GET_TUPLE_ELEMENT) return member_of(l, n->operands[0], n->index);
  return n->shape.is_tuple ? 0 : l->base[id];
}

static void add_value(lister *l, ids *to, uint32_t value, uint32_t reader) {
  if (!value || l->marked[value] == reader) return;
  l->marked[value] = reader;
  VEC_PUSH(l->g->arena, to, value);
}

static uint32_t table_of(const lister *l, uint32_t id) { return plan_table_of(l->g, l->base, id); }

/* All values of a node, with those inside of it. */
static void add_values(lister *l, ids *to, uint32_t id, uint32_t reader) {
  const plan_node *n = plan_node_get(l->g, id);
  uint32_t table = table_of(l, id);
  if (!table) {
    add_value(l, to, value_of(l, id), reader);
    return;
  }
  add_value(l, to, table, reader);
  for (uint32_t i = 0; i < n->shape.n_members; i++) add_value(l, to, member_of(l, id, i), reader);
}

static void find_reads(lister *l, uint32_t id) {
  const plan_node *n = plan_node_get(l->g, id);
  ids *to = &l->reads[id];
  if (n->kind == IR_OP_GET_TUPLE_ELEMENT &&
      plan_node_get(l->g, n->operands[0])->shape.n_members > MOST_MEMBERS) {
    add_value(l, to, member_of(l, n->operands[0], n->index), id);
    add_value(l, to, table_of(l, n->operands[0]), id);
    return;
  }
  for (uint32_t i = 0; i < n->n_operands; i++) add_values(l, to, n->operands[i], id);
}

/* Value k of a node is its own: a loop passes on what no trip changes. */
static bool is_made(const lister *l, uint32_t id, uint32_t k) {
  const plan_node *n = plan_node_get(l->g, id);
  return n->kind != IR_OP_WHILE || k == n->shape.n_members || plan_is_carried(l->g, n->comps[1], k);
}

/* ---- by list ---- */
static bool is_before(const ready *a, const ready *b) {
  if (a->freed != b->freed) return a->freed > b->freed;
  return a->users != b->users ? a->users > b->users : a->number > b->number;
}

static void push(lister *l, ready r) {
  VEC_PUSH(l->g->arena, &l->heap, r);
  for (uint32_t i = l->heap.count - 1; i > 0 && is_before(&l->heap.at[i], &l->heap.at[(i - 1) / 2]);
       i = (i - 1) / 2) {
    ready up = l->heap.at[i];
    l->heap.at[i] = l->heap.at[(i - 1) / 2];
    l->heap.at[(i - 1) / 2] = up;
  }
}

static ready pop(lister *l) {
  ready first = l->heap.at[0], last = l->heap.at[--l->heap.count];
  uint32_t i = 0, count = l->heap.count;
  for (uint32_t k = 1; k < count; k = 2 * i + 1) {
    if (k + 1 < count && is_before(&l->heap.at[k + 1], &l->heap.at[k])) k++;
    if (!is_before(&l->heap.at[k], &last)) break;
    l->heap.at[i] = l->heap.at[k];
    i = k;
  }
  if (count) l->heap.at[i] = last;
  return first;
}

/* Single numbers go as soon as they can. */
static ready priority_of(const lister *l, uint32_t id) {
  const plan_node *n = plan_node_get(l->g, id);
  if (!n->shape.is_tuple && n->shape.elements == 1) return (ready){INT64_MAX, UINT32_MAX, 0, id};
  int64_t freed = 0;
  for (uint32_t k = 0; k < plan_values_of(n); k++) {
    if (is_made(l, id, k)) freed = -saturated_sum(-freed, l->bytes[l->base[id] + k]);
  }
  for (uint32_t k = 0; k < l->reads[id].count; k++) {
    uint32_t value = l->reads[id].at[k];
    if (l->left[value] == 1) freed = saturated_sum(freed, l->bytes[value]);
  }
  return (ready){freed, n->n_users, 0, id};
}

static void make_ready(lister *l, ready r) {
  r.number = l->latest[r.node] = ++l->number;
  l->freed[r.node] = r.freed;
  push(l, r);
}

/* Readers of it that may go next: of one of them it is known now that it frees it. */
static void look_again(lister *l, uint32_t read) {
  const plan_node *x = plan_node_get(l->g, read);
  for (uint32_t k = 0; k < x->n_users; k++) {
    if (!l->latest[x->users[k]]) continue;
    ready r = priority_of(l, x->users[k]);
    if (r.freed != l->freed[r.node]) make_ready(l, r);
  }
}

static bool is_freed_next(const lister *l, uint32_t read) {
  const plan_node *n = plan_node_get(l->g, read);
  if (n->shape.is_tuple) return n->shape.n_members <= MOST_MEMBERS;
  uint32_t value = value_of(l, read);
  return value && l->bytes[value] > 0 && l->left[value] == 1;
}

static void put_into_list(lister *l, uint32_t id) {
  const plan_node *n = plan_node_get(l->g, id);
  l->latest[id] = 0;
  for (uint32_t k = 0; k < l->reads[id].count; k++) l->left[l->reads[id].at[k]]--;
  for (uint32_t i = 0; i < n->n_users; i++)
    if (--l->waits[n->users[i]] == 0) make_ready(l, priority_of(l, n->users[i]));
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (is_freed_next(l, n->operands[i])) look_again(l, n->operands[i]);
}

static uint32_t *by_list(lister *l, uint32_t comp) {
  const plan_comp *c = plan_comp_get(l->g, comp);
  uint32_t *order = ARENA_ARRAY(l->g->arena, uint32_t, c->nodes.count + 1), count = 0;
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(l->g, c->nodes.at[i]);
    for (uint32_t k = 0; k < n->n_users; k++) l->waits[n->users[k]]++;
    for (uint32_t k = 0; k < l->reads[c->nodes.at[i]].count; k++)
      l->left[l->reads[c->nodes.at[i]].at[k]]++;
  }
  l->heap.count = 0;
  for (uint32_t i = 0; i < c->nodes.count; i++)
    if (l->waits[c->nodes.at[i]] == 0) make_ready(l, priority_of(l, c->nodes.at[i]));
  while (l->heap.count) {
    ready r = pop(l);
    if (l->latest[r.node] != r.number) continue;
    order[count++] = r.node;
    put_into_list(l, r.node);
  }
  CTX_CHECK(l->g->m->ctx, count == c->nodes.count);
  return order;
}

/* ---- what is live ---- */
/* Over an operand that dies there. */
static bool is_over(lister *l, uint32_t id, uint32_t k, uint32_t at) {
  const plan_node *n = plan_node_get(l->g, id);
  uint32_t value = l->base[id] + k;
  if (k >= (n->shape.is_tuple ? n->shape.n_members : 1)) return false;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint32_t x = value_of(l, n->operands[i]);
    bool dies = x && l->last[x] == at &&
                plan_node_get(l->g, n->operands[i])->shape.bytes ==
                    (n->shape.is_tuple ? n->shape.members[k].bytes : n->shape.bytes);
    if (!dies || !plan_shares_buffer(l->g, id, k, i)) continue;
    l->taken[value] = l->taken[x];
    l->taken[x] = 0;
    return true;
  }
  return false;
}

static int64_t take(lister *l, uint32_t id, uint32_t at) {
  const plan_node *n = plan_node_get(l->g, id);
  bool may_share = !n->n_comps && n->kind != PLAN_COPY;
  int64_t bytes = 0;
  for (uint32_t k = 0; k < plan_values_of(n); k++) {
    uint32_t value = l->base[id] + k;
    l->taken[value] = 0;
    if (!is_made(l, id, k) || (may_share && is_over(l, id, k, at))) continue;
    l->taken[value] = l->bytes[value];
    bytes = saturated_sum(bytes, l->taken[value]);
  }
  return bytes;
}

static int64_t give_back(const lister *l, uint32_t id, uint32_t at) {
  const plan_node *n = plan_node_get(l->g, id);
  int64_t bytes = 0;
  for (uint32_t k = 0; k < plan_values_of(n); k++)
    if (l->last[l->base[id] + k] == at) bytes = saturated_sum(bytes, l->taken[l->base[id] + k]);
  for (uint32_t k = 0; k < l->reads[id].count && !is_view(n); k++) {
    uint32_t value = l->reads[id].at[k];
    if (l->last[value] == at) bytes = saturated_sum(bytes, l->taken[value]);
  }
  return bytes;
}

static void find_last(lister *l, uint32_t comp, const uint32_t *order) {
  const plan_comp *c = plan_comp_get(l->g, comp);
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    const plan_node *n = plan_node_get(l->g, order[i]);
    for (uint32_t k = 0; k < plan_values_of(n); k++) l->last[l->base[order[i]] + k] = i;
    for (uint32_t k = 0; k < l->reads[order[i]].count && !is_view(n); k++)
      l->last[l->reads[order[i]].at[k]] = i;
  }
  ids results = {0};
  add_values(l, &results, c->root, ++l->n_readers);
  for (uint32_t k = 0; k < results.count; k++) l->last[results.at[k]] = UINT32_MAX;
}

/* Beside what the node has: in the largest of the computations that it calls. */
static int64_t most_called(const lister *l, uint32_t id) {
  const plan_node *n = plan_node_get(l->g, id);
  int64_t most = 0;
  for (uint32_t k = 0; k < n->n_comps; k++)
    if (l->most[n->comps[k]] > most) most = l->most[n->comps[k]];
  return most;
}

/* The most bytes that are live at once if the computation runs in that order. */
static int64_t most_live(lister *l, uint32_t comp, const uint32_t *order) {
  int64_t live = 0, most = 0;
  find_last(l, comp, order);
  for (uint32_t i = 0; i < plan_comp_get(l->g, comp)->nodes.count; i++) {
    live = saturated_sum(live, take(l, order[i], i));
    int64_t with_called = saturated_sum(live, most_called(l, order[i]));
    if (with_called > most) most = with_called;
    live -= give_back(l, order[i], i);
  }
  return most;
}

/* ---- the least ---- */
static void order_of(lister *l, uint32_t comp) {
  plan_comp *c = plan_comp_get(l->g, comp);
  uint32_t *orders[3] = {by_list(l, comp), c->order, plan_post_order(l->g, comp)};
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < 3; i++) {
    int64_t bytes = most_live(l, comp, orders[i]);
    if (i && bytes >= least) continue;
    l->most[comp] = least = bytes;
    c->order = orders[i];
  }
}

static lister lister_of(plan_graph *g) {
  arena *a = g->arena;
  lister l = {.g = g,
              .reads = ARENA_ARRAY(a, ids, g->nodes.count),
              .waits = ARENA_ARRAY(a, uint32_t, g->nodes.count),
              .latest = ARENA_ARRAY(a, uint32_t, g->nodes.count),
              .freed = ARENA_ARRAY(a, int64_t, g->nodes.count),
              .n_readers = g->nodes.count};
  number_values(&l);
  l.left = ARENA_ARRAY(a, uint32_t, l.n_values);
  l.marked = ARENA_ARRAY(a, uint32_t, l.n_values);
  l.last = ARENA_ARRAY(a, uint32_t, l.n_values);
  l.taken = ARENA_ARRAY(a, int64_t, l.n_values);
  l.most = ARENA_ARRAY(a, int64_t, g->comps.count);
  return l;
}

void plan_schedule_gpu(plan_graph *g) {
  plan_schedule(g, PLAN_ORDER_MEMORY);
  lister l = lister_of(g);
  for (uint32_t id = 1; id < g->nodes.count; id++)
    if (plan_node_get(g, id)->flags & PLAN_FLAG_LIVE) find_reads(&l, id);
  for (uint32_t c = g->comps.count; c-- > 1;) order_of(&l, c); /* what is called comes behind */
}
