/* The order in which XLA CPU runs the nodes of each computation.
 *
 * PLAN_ORDER_PROGRAM is XLA's default scheduler: breadth first, from the nodes without operands on. PLAN_ORDER_MEMORY is the memory-optimised one: a
 * greedy list scheduler (most bytes freed first), a depth-first order with a heuristic for which operand comes first, and the plain post order are all
 * tried; the one with the fewest bytes live at once wins, in this order of preference.
 * Source: XLA's hlo_memory_scheduler.cc.
 */
#include "plan/peak_graph.h"

typedef VEC(uint32_t) list;

static uint32_t unique_operands(const plan_node *n) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < n->n_operands; i++) {
    bool seen = false;
    for (uint32_t j = 0; j < i && !seen; j++) seen = n->operands[j] == n->operands[i];
    count += !seen;
  }
  return count;
}

/* ---- breadth first ---- */
static uint32_t *breadth_first(plan_graph *g, uint32_t comp, uint32_t *waits) {
  const plan_comp *c = plan_comp_get(g, comp);
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, c->nodes.count + 1), count = 0;
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    uint32_t id = c->nodes.at[i];
    waits[id] = unique_operands(plan_node_get(g, id));
    if (waits[id] == 0) order[count++] = id;
  }
  for (uint32_t k = 0; k < count; k++) {
    const plan_node *n = plan_node_get(g, order[k]);
    for (uint32_t i = 0; i < n->n_users; i++)
      if (--waits[n->users[i]] == 0) order[count++] = n->users[i];
  }
  CTX_CHECK(g->m->ctx, count == c->nodes.count);
  return order;
}

/* ---- greedy ---- */
typedef struct ready_node {
  int64_t freed, users; /* priority */
  uint32_t node, serial;
} ready_node;

typedef struct greedy {
  plan_graph *g;
  uint32_t *waits, *uses; /* by node: operands not yet run; users not yet run, + 1 for a result of the computation */
  uint32_t *alias;        /* by node: the node whose buffer it shows */
  ready_node *heap;
  uint32_t n_heap, serial;
  bool *done;
} greedy;

static bool before(const ready_node *a, const ready_node *b) {
  if (a->freed != b->freed) return a->freed > b->freed;
  if (a->users != b->users) return a->users > b->users;
  return a->serial > b->serial;
}

static void sift_up(ready_node *heap, uint32_t i) {
  for (; i > 0 && before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2) {
    ready_node t = heap[i];
    heap[i] = heap[(i - 1) / 2];
    heap[(i - 1) / 2] = t;
  }
}

static ready_node pop(greedy *s) {
  ready_node top = s->heap[0];
  s->heap[0] = s->heap[--s->n_heap];
  for (uint32_t i = 0;;) {
    uint32_t best = i, left = 2 * i + 1;
    if (left < s->n_heap && before(&s->heap[left], &s->heap[best])) best = left;
    if (left + 1 < s->n_heap && before(&s->heap[left + 1], &s->heap[best])) best = left + 1;
    if (best == i) return top;
    ready_node t = s->heap[i];
    s->heap[i] = s->heap[best];
    s->heap[best] = t;
    i = best;
  }
}

/* Views and what is not in the program's own memory define no bytes. */
static int64_t defined_bytes(const plan_graph *g, const plan_node *n) {
  switch (n->kind) {
    case PLAN_PARAMETER: case IR_OP_CONSTANT: case PLAN_BITCAST: case IR_OP_GET_TUPLE_ELEMENT: return 0;
    default: break;
  }
  int64_t bytes = n->shape.bytes;
  if (n->kind == IR_OP_TUPLE || n->kind == IR_OP_WHILE || n->in_place) return n->kind == IR_OP_TUPLE ? bytes : 0;
  for (uint32_t i = 0; i < n->shape.n_members; i++)
    if (__builtin_add_overflow(bytes, n->shape.members[i].bytes, &bytes)) return INT64_MAX / 4;
  (void)g;
  return bytes < INT64_MAX / 4 ? bytes : INT64_MAX / 4;
}

static ready_node priority(const greedy *s, uint32_t node) {
  const plan_node *n = plan_node_get(s->g, node);
  ready_node r = {.node = node, .users = n->n_users};
  if (!n->shape.is_tuple && n->shape.elements == 1) return (ready_node){.freed = INT64_MAX, .users = INT64_MAX, .node = node};
  for (uint32_t i = 0; i < n->n_operands; i++) {
    uint32_t x = s->alias[n->operands[i]];
    bool seen = false;
    for (uint32_t j = 0; j < i && !seen; j++) seen = s->alias[n->operands[j]] == x;
    if (!seen && s->uses[x] == 1 && r.freed < INT64_MAX / 4) r.freed += defined_bytes(s->g, plan_node_get(s->g, x));
  }
  r.freed -= defined_bytes(s->g, n);
  return r;
}

static void push(greedy *s, uint32_t node) {
  ready_node r = priority(s, node);
  r.serial = ++s->serial;
  s->heap[s->n_heap++] = r;
  sift_up(s->heap, s->n_heap - 1);
}

/* A node that has become the last user of something moves up: it is entered again, the old entry is skipped when it comes. */
static void refresh(greedy *s, uint32_t run, uint32_t room) {
  const plan_node *n = plan_node_get(s->g, run);
  for (uint32_t i = 0; i < n->n_operands; i++) {
    const plan_node *x = plan_node_get(s->g, n->operands[i]);
    if (s->uses[s->alias[n->operands[i]]] != 1) continue;
    for (uint32_t u = 0; u < x->n_users; u++)
      if (s->waits[x->users[u]] == 0 && !s->done[x->users[u]] && s->n_heap < room) push(s, x->users[u]);
  }
}

static uint32_t *greedy_order(plan_graph *g, uint32_t comp, greedy *s) {
  const plan_comp *c = plan_comp_get(g, comp);
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, c->nodes.count + 1), count = 0, room = c->nodes.count * 4 + 16;
  s->heap = ARENA_ARRAY(g->arena, ready_node, room + c->nodes.count);
  s->n_heap = s->serial = 0;
  for (uint32_t i = 0; i < c->nodes.count; i++) {
    uint32_t id = c->nodes.at[i];
    const plan_node *n = plan_node_get(g, id);
    bool view = n->kind == PLAN_BITCAST || (n->kind == IR_OP_GET_TUPLE_ELEMENT && plan_node_get(g, n->operands[0])->kind != PLAN_PARAMETER);
    s->waits[id] = unique_operands(n);
    s->alias[id] = id;
    s->uses[id] = 0;
    if (view) s->alias[id] = n->operands[0];
  }
  uint32_t *post = plan_post_order(g, comp);
  for (uint32_t k = 0; k < c->nodes.count; k++) {
    s->alias[post[k]] = s->alias[post[k]] == post[k] ? post[k] : s->alias[s->alias[post[k]]];
    const plan_node *n = plan_node_get(g, post[k]);
    for (uint32_t u = 0; u < n->n_users; u++) s->uses[s->alias[post[k]]]++;
  }
  s->uses[s->alias[c->root]]++;
  for (uint32_t i = 0; i < c->nodes.count; i++)
    if (s->waits[c->nodes.at[i]] == 0) push(s, c->nodes.at[i]);
  while (s->n_heap) {
    uint32_t id = pop(s).node;
    if (s->done[id]) continue;
    s->done[id] = true;
    order[count++] = id;
    const plan_node *n = plan_node_get(g, id);
    for (uint32_t i = 0; i < n->n_operands; i++) {
      bool seen = false;
      for (uint32_t j = 0; j < i && !seen; j++) seen = n->operands[j] == n->operands[i];
      if (!seen) s->uses[s->alias[n->operands[i]]]--;
    }
    for (uint32_t i = 0; i < n->n_users; i++)
      if (--s->waits[n->users[i]] == 0) push(s, n->users[i]);
    refresh(s, id, room);
  }
  CTX_CHECK(g->m->ctx, count == c->nodes.count);
  return order;
}

/* ---- depth first ---- */
typedef struct weight {
  int64_t extra_users, bytes;
} weight;

static void weigh(const plan_graph *g, const uint32_t *post, uint32_t count, weight *w) {
  int64_t all_bytes = 0;
  for (uint32_t k = 0; k < count; k++) {
    const plan_node *n = plan_node_get(g, post[k]);
    weight x = {0};
    if (n->kind != PLAN_PARAMETER && n->kind != IR_OP_CONSTANT) {
      x.extra_users = n->n_users ? n->n_users - 1 : 0;
      x.bytes = defined_bytes(g, n);
      if (__builtin_add_overflow(all_bytes, x.bytes, &all_bytes)) all_bytes = INT64_MAX / 4;
      for (uint32_t i = 0; i < n->n_operands; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < i && !seen; j++) seen = n->operands[j] == n->operands[i];
        if (seen) continue;
        x.extra_users += w[n->operands[i]].extra_users;
        if (__builtin_add_overflow(x.bytes, w[n->operands[i]].bytes, &x.bytes)) x.bytes = all_bytes;
        if (x.extra_users > count) x.extra_users = count;
        if (x.bytes > all_bytes) x.bytes = all_bytes;
      }
    }
    w[post[k]] = x;
  }
}

static bool goes_first(const weight *w, uint32_t a, uint32_t b) {
  if (w[a].extra_users != w[b].extra_users) return w[a].extra_users > w[b].extra_users;
  if (w[a].bytes != w[b].bytes) return w[a].bytes > w[b].bytes;
  return a < b;
}

static void push_operands(const plan_graph *g, const plan_node *n, const uint8_t *state, const weight *w, list *todo) {
  uint32_t from = todo->count;
  for (uint32_t i = 0; i < n->n_operands; i++)
    if (state[n->operands[i]] == 0) VEC_PUSH(g->arena, todo, n->operands[i]);
  for (uint32_t i = from + 1; i < todo->count; i++) /* the first to visit comes last */
    for (uint32_t k = i; k > from && goes_first(w, todo->at[k - 1], todo->at[k]); k--) {
      uint32_t t = todo->at[k];
      todo->at[k] = todo->at[k - 1];
      todo->at[k - 1] = t;
    }
}

static uint32_t *depth_first(plan_graph *g, uint32_t comp, weight *w) {
  uint32_t *post = plan_post_order(g, comp), count = 0;
  const plan_comp *c = plan_comp_get(g, comp);
  weigh(g, post, c->nodes.count, w);
  uint32_t *order = ARENA_ARRAY(g->arena, uint32_t, c->nodes.count + 1);
  if (c->nodes.count == 0) return order; /* dead code's */
  uint8_t *state = g->state;
  for (uint32_t i = 0; i < c->nodes.count; i++) state[c->nodes.at[i]] = 0;
  list todo = {0};
  for (uint32_t r = 0; r < c->nodes.count + 1; r++) { /* the root first, then whatever nobody uses */
    uint32_t root = r == 0 ? c->root : c->nodes.at[r - 1];
    if (r && plan_node_get(g, root)->n_users) continue;
    VEC_PUSH(g->arena, &todo, root);
    while (todo.count) {
      uint32_t id = todo.at[todo.count - 1];
      if (state[id] == 0) {
        state[id] = 1;
        push_operands(g, plan_node_get(g, id), state, w, &todo);
        continue;
      }
      todo.count--;
      if (state[id] == 1) order[count++] = id;
      state[id] = 2;
    }
  }
  CTX_CHECK(g->m->ctx, count == c->nodes.count);
  return order;
}

/* ---- the choice ---- */
void plan_schedule(plan_graph *g, plan_order order) {
  uint32_t n = g->nodes.count;
  uint32_t *waits = ARENA_ARRAY(g->arena, uint32_t, n);
  if (order == PLAN_ORDER_PROGRAM) {
    for (uint32_t c = 1; c < g->comps.count; c++) plan_comp_get(g, c)->order = breadth_first(g, c, waits);
    return;
  }
  greedy s = {.g = g, .waits = waits, .uses = ARENA_ARRAY(g->arena, uint32_t, n), .alias = ARENA_ARRAY(g->arena, uint32_t, n), .done = ARENA_ARRAY(g->arena, bool, n)};
  weight *w = ARENA_ARRAY(g->arena, weight, n);
  uint32_t **orders[3];
  int64_t bytes[3];
  int best = 0;
  for (int k = 0; k < 3; k++) {
    orders[k] = ARENA_ARRAY(g->arena, uint32_t *, g->comps.count);
    for (uint32_t c = 1; c < g->comps.count; c++) {
      orders[k][c] = k == 0 ? greedy_order(g, c, &s) : k == 1 ? depth_first(g, c, w) : plan_post_order(g, c);
      plan_comp_get(g, c)->order = orders[k][c];
    }
    bytes[k] = plan_live_bytes(g);
    if (bytes[k] < bytes[best]) best = k;
  }
  for (uint32_t c = 1; c < g->comps.count; c++) plan_comp_get(g, c)->order = orders[best][c];
}
